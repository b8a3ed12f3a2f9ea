//! The things to be stowed.
//!
//! [`Crate`] and [`Barrel`] cover most needs. Anything else joins in by implementing
//! [`Stowable`], of which only three methods are required.

use crate::{Error, Result, HEAVIEST_PIECE};

/// Something that takes up space and weighs something.
///
/// # Implementing it
///
/// ```
/// use stowage::Stowable;
///
/// struct Car {
///     plate: String,
/// }
///
/// impl Stowable for Car {
///     fn label(&self) -> &str {
///         &self.plate
///     }
///
///     fn extent(&self) -> [f64; 3] {
///         [4.5, 1.8, 1.5]
///     }
///
///     fn weight(&self) -> f64 {
///         1_400.0
///     }
///
///     fn may_turn(&self) -> bool {
///         false
///     }
/// }
///
/// let car = Car { plate: "HH-AB 12".into() };
/// assert!(car.density() < 200.0);
/// ```
pub trait Stowable {
    /// What it is called in plans and errors; should be unique in one load.
    fn label(&self) -> &str;

    /// Length, width and height of the box around it, in metres.
    fn extent(&self) -> [f64; 3];

    /// Its weight in kilograms.
    fn weight(&self) -> f64;

    /// Whether it may be turned about its upright axis. It may, unless said otherwise.
    fn may_turn(&self) -> bool {
        true
    }

    /// Whether other cargo may stand on top. It may, unless said otherwise.
    fn bears_load(&self) -> bool {
        true
    }

    /// Kilograms per cubic metre of the box around it.
    ///
    /// Strategies put dense cargo low, see [`LargestFirst`](crate::strategy::LargestFirst).
    fn density(&self) -> f64 {
        let [length, width, height] = self.extent();
        self.weight() / (length * width * height)
    }
}

/// A wooden box.
///
/// ```
/// use stowage::{Crate, Stowable};
///
/// let tea = Crate::new("tea", 1.0, 1.0, 1.0, 180.0)?.fragile();
/// assert!(!tea.bears_load());
/// # Ok::<(), stowage::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Crate {
    /// What it is called.
    pub label: String,
    /// Length, width and height in metres.
    pub extent: [f64; 3],
    /// Its weight in kilograms.
    pub weight: f64,
    fragile: bool,
}

impl Crate {
    /// Makes a crate that may be turned and stacked upon.
    ///
    /// # Errors
    ///
    /// [`Error::Impossible`] if a length or the weight is not a positive number, or if the weight
    /// is beyond [`HEAVIEST_PIECE`].
    ///
    /// ```
    /// use stowage::Crate;
    ///
    /// assert!(Crate::new("anti-gravity", 1.0, 1.0, 1.0, -5.0).is_err());
    /// ```
    pub fn new(
        label: impl Into<String>,
        length: f64,
        width: f64,
        height: f64,
        weight: f64,
    ) -> Result<Self> {
        let label = label.into();
        let positive = [length, width, height, weight]
            .iter()
            .all(|each| *each > 0.0);
        if !positive || weight > HEAVIEST_PIECE {
            return Err(Error::Impossible(label));
        }
        Ok(Self {
            label,
            extent: [length, width, height],
            weight,
            fragile: false,
        })
    }

    /// Marks the crate as fragile: nothing may stand on it.
    #[must_use = "returns the marked crate and leaves the given one as it was"]
    pub fn fragile(mut self) -> Self {
        self.fragile = true;
        self
    }
}

impl Stowable for Crate {
    fn label(&self) -> &str {
        &self.label
    }

    fn extent(&self) -> [f64; 3] {
        self.extent
    }

    fn weight(&self) -> f64 {
        self.weight
    }

    fn bears_load(&self) -> bool {
        !self.fragile
    }
}

/// A barrel, which stands upright and never bears load.
#[derive(Clone, Debug, PartialEq)]
pub struct Barrel {
    /// What it is called.
    pub label: String,
    /// How much goes in.
    pub size: BarrelSize,
    /// Kilograms per litre of what is inside.
    pub content_density: f64,
}

/// The sizes in which coopers make barrels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum BarrelSize {
    /// 41 litres.
    Firkin,
    /// 164 litres.
    Barrel,
    /// 246 litres.
    Hogshead,
}

impl BarrelSize {
    /// How much goes in, in litres.
    ///
    /// ```
    /// use stowage::cargo::BarrelSize;
    ///
    /// assert_eq!(BarrelSize::Hogshead.litres(), 246.0);
    /// ```
    #[must_use]
    pub const fn litres(self) -> f64 {
        match self {
            Self::Firkin => 41.0,
            Self::Barrel => 164.0,
            Self::Hogshead => 246.0,
        }
    }
}

impl Stowable for Barrel {
    fn label(&self) -> &str {
        &self.label
    }

    fn extent(&self) -> [f64; 3] {
        let side = (self.size.litres() / 1000.0).cbrt();
        [side, side, side * 1.3]
    }

    /// The content and an oaken barrel around it, for which a fifth is added.
    fn weight(&self) -> f64 {
        self.size.litres() * self.content_density * 1.2
    }

    fn bears_load(&self) -> bool {
        false
    }
}
