//! Recorded retrievals become measurements: metrics, replay of a trace, data sets run through the real layers.
//!
//! The one thing a newcomer gets wrong: a replay computes nothing anew from the memory. It shows that a recorded ranking
//! follows from the stage ranks recorded beside it; what today's code would find is the lab's question.

mod arm;
mod dataset;
mod error;
mod lab;
mod metrics;
mod replay;
mod report;

pub use arm::{Arm, ParseArmError};
pub use dataset::{DataSet, Document, Project, Query};
pub use error::{DataSetError, LabError, LineError};
pub use lab::{LabProgress, LabRequest, ScopeUse, run_lab};
pub use metrics::{Judged, Metrics};
pub use replay::{Difference, Replay, replay};
pub use report::{ArmReport, GroupReport, LabReport, SetReport, Timings};
