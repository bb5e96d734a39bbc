//! Databases and files as a caller sees them.

#[cfg(test)]
mod database;
#[cfg(test)]
mod files;
