use crate::{Error, Result, Stowable};

/// Where one piece stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Placement {
    label: String,
    corner: [f64; 3],
    extent: [f64; 3],
    weight: f64,
}

impl Placement {
    /// The piece with its aft lower port corner at this point of the hold.
    #[must_use]
    pub fn new<T: Stowable + ?Sized>(piece: &T, corner: [f64; 3]) -> Self {
        let (extent, weight) = (piece.extent(), piece.weight());
        Self {
            label: piece.label().into(),
            corner,
            extent,
            weight,
        }
    }

    /// What the piece is called.
    #[must_use]
    pub fn label(&self) -> &str {
        &self.label
    }

    /// Its weight in kilograms.
    #[must_use]
    pub const fn weight(&self) -> f64 {
        self.weight
    }

    /// The point in its middle, in metres from the origin of the hold.
    #[must_use]
    pub fn centre(&self) -> [f64; 3] {
        std::array::from_fn(|axis| self.corner[axis] + self.extent[axis] / 2.0)
    }

    /// Whether the two share space. Touching is not sharing.
    #[must_use]
    pub fn overlaps(&self, other: &Self) -> bool {
        (0..3).all(|axis| {
            self.corner[axis] < other.corner[axis] + other.extent[axis]
                && other.corner[axis] < self.corner[axis] + self.extent[axis]
        })
    }
}

/// A stowage plan: placements in the order of loading.
///
/// It is what [`Hold::stow`](crate::Hold::stow) returns, and it can be gone through like any
/// collection.
///
/// ```
/// use stowage::{Crate, Hold, strategy::FirstFit};
///
/// let mut hold = Hold::new(4.0, 2.0, 2.0);
/// let plan = hold.stow(&[Crate::new("tea", 1.0, 1.0, 1.0, 180.0)?], &FirstFit)?;
/// for placement in &plan {
///     println!("{} at {:?}", placement.label(), placement.centre());
/// }
/// # Ok::<(), stowage::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    placements: Vec<Placement>,
}

impl Plan {
    /// Adds a placement at the end, without looking whether it fits.
    pub fn push(&mut self, placement: Placement) {
        self.placements.push(placement);
    }

    /// How many pieces are stowed.
    #[must_use]
    pub fn len(&self) -> usize {
        self.placements.len()
    }

    /// Whether nothing is stowed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.placements.is_empty()
    }

    /// The piece that was loaded first and comes out last.
    #[must_use]
    pub fn first(&self) -> Option<&Placement> {
        self.placements.first()
    }

    /// The weight of everything, in kilograms.
    #[must_use]
    pub fn weight(&self) -> f64 {
        self.placements.iter().map(Placement::weight).sum()
    }

    /// Goes through the placements in the order of loading.
    pub fn iter(&self) -> std::slice::Iter<'_, Placement> {
        self.placements.iter()
    }

    /// Takes a piece out of the plan.
    ///
    /// # Errors
    ///
    /// [`Error::Unknown`] if no piece has this label.
    pub fn unload(&mut self, label: &str) -> Result<Placement> {
        let index = self
            .placements
            .iter()
            .position(|each| each.label() == label);
        index
            .map(|index| self.placements.remove(index))
            .ok_or_else(|| Error::Unknown(label.into()))
    }

    /// The weight of everything, in tonnes.
    #[deprecated(since = "0.1.0", note = "use `weight` and divide by a thousand")]
    #[must_use]
    pub fn tonnes(&self) -> f64 {
        self.weight() / 1_000.0
    }
}

impl<'a> IntoIterator for &'a Plan {
    type Item = &'a Placement;
    type IntoIter = std::slice::Iter<'a, Placement>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}
