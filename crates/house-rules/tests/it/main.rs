//! The rules of the house, checked on the checkout.

mod docs;
mod layering;
mod prose;
mod repository;
