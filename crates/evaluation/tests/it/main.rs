//! What callers of evaluation may rely on.

#[cfg(test)]
mod dataset;
#[cfg(test)]
mod lab;
#[cfg(test)]
mod replay;
#[cfg(test)]
mod support;
