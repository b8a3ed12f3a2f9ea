//! Plans how cargo is stowed in a ship's hold.
//!
//! A [`Hold`] is a rectangular space with a limit on the weight that its floor bears. [`Crate`]s,
//! barrels and whatever else implements [`Stowable`] are put into it by a [`Strategy`], which
//! decides on the order and the place. The result is a [`Plan`]: a list of placements that can be
//! checked, unloaded again and written down.
//!
//! # Quick start
//!
//! ```
//! use stowage::{Crate, Hold, strategy::LargestFirst};
//!
//! let mut hold = Hold::new(12.0, 4.0, 3.0).with_limit(20_000.0);
//! let cargo = [
//!     Crate::new("tea", 1.0, 1.0, 1.0, 180.0)?,
//!     Crate::new("engine parts", 2.0, 1.5, 1.0, 2_400.0)?,
//! ];
//!
//! let plan = hold.stow(&cargo, &LargestFirst)?;
//! assert_eq!(plan.len(), 2);
//! assert_eq!(plan.first().unwrap().label(), "engine parts");
//! # Ok::<(), stowage::Error>(())
//! ```
//!
//! # What is where
//!
//! * [`cargo`]: the things to be stowed, and the trait for your own.
//! * [`strategy`]: in which order and where; write your own by implementing [`Strategy`].
//! * [`balance`]: trim, list and the centre of gravity of a finished plan.
//! * [`manifest`]: plans as text, with the feature `manifest`.
//!
//! # Units
//!
//! Lengths are metres, weights are kilograms, and the origin is the aft lower port corner of the
//! hold. Nothing checks that you keep to them, so a hold measured in feet takes cargo measured in
//! feet.
//!
//! # Features
//!
//! | feature | default | adds |
//! | --- | --- | --- |
//! | `std` | yes | [`std::error::Error`] for [`Error`] |
//! | `manifest` | no | the module [`manifest`] |
#![cfg_attr(docsrs, feature(doc_cfg))]
#![warn(missing_docs)]

pub mod balance;
pub mod cargo;
mod error;
mod hold;
#[cfg(feature = "manifest")]
#[cfg_attr(docsrs, doc(cfg(feature = "manifest")))]
pub mod manifest;
mod plan;
pub mod strategy;

pub use cargo::{Crate, Stowable};
pub use error::{Error, Result};
pub use hold::Hold;
pub use plan::{Placement, Plan};
pub use strategy::Strategy;

/// Everything that a program which plans needs, in one `use`.
///
/// ```
/// use stowage::prelude::*;
///
/// let hold = Hold::new(2.0, 2.0, 2.0);
/// assert_eq!(hold.volume(), 8.0);
/// ```
pub mod prelude {
    pub use crate::cargo::{Barrel, Crate, Stowable};
    pub use crate::strategy::{FirstFit, LargestFirst, Strategy};
    pub use crate::{Error, Hold, Plan};
}

/// The heaviest single piece that any hold takes, in kilograms.
///
/// Pieces beyond it are project cargo: they are secured one by one and no strategy of this crate
/// knows how.
pub const HEAVIEST_PIECE: f64 = 40_000.0;

/// Makes a list of [`Crate`]s, one for each `label: length x width x height @ weight`.
///
/// Fails with the first crate that is impossible, like [`Crate::new`].
///
/// ```
/// let cargo = stowage::crates! {
///     "tea": 1.0 x 1.0 x 1.0 @ 180.0;
///     "coffee": 1.2 x 0.8 x 1.0 @ 240.0;
/// }?;
/// assert_eq!(cargo.len(), 2);
/// # Ok::<(), stowage::Error>(())
/// ```
#[macro_export]
macro_rules! crates {
    ($($label:literal : $length:literal x $width:literal x $height:literal @ $weight:literal;)*) => {
        (|| -> $crate::Result<Vec<$crate::Crate>> {
            Ok(vec![$($crate::Crate::new($label, $length, $width, $height, $weight)?),*])
        })()
    };
}
