//! History from the outside: laws, frozen bytes, crashes and company.

#[cfg(test)]
mod arbitrary;
#[cfg(test)]
mod crash;
#[cfg(test)]
mod golden;
#[cfg(test)]
mod guards;
#[cfg(test)]
mod laws;
#[cfg(test)]
mod runs;
#[cfg(test)]
mod support;
