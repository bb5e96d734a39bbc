//! The index as its callers see it.

#[cfg(test)]
mod cache;
#[cfg(test)]
mod cost;
#[cfg(test)]
mod dense;
#[cfg(test)]
mod equivalence;
#[cfg(test)]
mod failures;
#[cfg(test)]
mod fill;
#[cfg(test)]
mod head;
#[cfg(test)]
mod identity;
#[cfg(test)]
mod kill;
#[cfg(test)]
mod lanes;
#[cfg(test)]
mod lexical;
#[cfg(test)]
mod look;
#[cfg(test)]
mod records;
#[cfg(test)]
mod records_kill;
#[cfg(test)]
mod records_laws;
#[cfg(test)]
mod segments;
#[cfg(test)]
mod sparse;
#[cfg(test)]
mod support;
#[cfg(test)]
mod switch;
#[cfg(test)]
mod vectors;
