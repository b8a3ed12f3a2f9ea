//! Whether the ship lies straight: the centre of gravity, trim and list of a plan.

use crate::{Hold, Plan};

/// How cargo pulls the ship out of level.
///
/// Zero is level; one is all weight at the very end.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Balance {
    /// Fore (positive) or aft (negative).
    pub trim: f64,
    /// Starboard (positive) or port (negative).
    pub list: f64,
}

impl Balance {
    /// Level in both directions.
    pub const LEVEL: Self = Self {
        trim: 0.0,
        list: 0.0,
    };

    /// Whether neither trim nor list is beyond the tolerance.
    ///
    /// ```
    /// use stowage::balance::Balance;
    ///
    /// assert!(Balance { trim: 0.02, list: -0.01 }.is_within(0.05));
    /// ```
    #[must_use]
    pub fn is_within(self, tolerance: f64) -> bool {
        self.trim.abs() <= tolerance && self.list.abs() <= tolerance
    }
}

/// The point at which all weight of a plan may be thought to be, in metres from the hold's origin.
///
/// `None` for an empty plan, which has no such point.
#[must_use]
pub fn centre_of_gravity(plan: &Plan) -> Option<[f64; 3]> {
    let weight = plan.weight();
    (weight > 0.0).then(|| {
        std::array::from_fn(|axis| {
            plan.iter()
                .map(|each| each.centre()[axis] * each.weight())
                .sum::<f64>()
                / weight
        })
    })
}

/// Trim and list of a plan in its hold.
///
/// ```
/// use stowage::{Crate, Hold, balance, strategy::FirstFit};
///
/// let mut hold = Hold::new(1.0, 1.0, 1.0);
/// let plan = hold.stow(&[Crate::new("tea", 1.0, 1.0, 1.0, 180.0)?], &FirstFit)?;
/// assert_eq!(balance::of(&hold, &plan), balance::Balance::LEVEL);
/// # Ok::<(), stowage::Error>(())
/// ```
#[must_use]
pub fn of(hold: &Hold, plan: &Plan) -> Balance {
    let Some(centre) = centre_of_gravity(plan) else {
        return Balance::LEVEL;
    };
    let [length, width, _] = hold.extent();
    Balance {
        trim: centre[0] * 2.0 / length - 1.0,
        list: centre[1] * 2.0 / width - 1.0,
    }
}
