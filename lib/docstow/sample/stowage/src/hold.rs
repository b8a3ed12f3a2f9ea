use crate::{Error, Placement, Plan, Result, Stowable, Strategy, HEAVIEST_PIECE};

/// A ship's hold: a box with a floor that bears so much and no more.
///
/// Made by [`Hold::new`] and the `with_` methods; filled by [`Hold::stow`].
///
/// ```
/// use stowage::Hold;
///
/// let hold = Hold::new(12.0, 4.0, 3.0).with_limit(20_000.0);
/// assert_eq!(hold.volume(), 144.0);
/// assert_eq!(hold.limit(), 20_000.0);
/// ```
#[derive(Clone, Debug)]
pub struct Hold {
    extent: [f64; 3],
    limit: f64,
    loaded: f64,
}

impl Hold {
    /// An empty hold of this length, width and height, in metres.
    ///
    /// Its limit is a thousand kilograms for each square metre of floor.
    #[must_use]
    pub fn new(length: f64, width: f64, height: f64) -> Self {
        Self {
            extent: [length, width, height],
            limit: length * width * 1_000.0,
            loaded: 0.0,
        }
    }

    /// The same hold with another limit on the weight in it, in kilograms.
    #[must_use]
    pub fn with_limit(mut self, limit: f64) -> Self {
        self.limit = limit;
        self
    }

    /// Length, width and height in metres.
    #[must_use]
    pub const fn extent(&self) -> [f64; 3] {
        self.extent
    }

    /// The weight that it takes, in kilograms.
    #[must_use]
    pub const fn limit(&self) -> f64 {
        self.limit
    }

    /// Its space in cubic metres.
    #[must_use]
    pub fn volume(&self) -> f64 {
        self.extent.iter().product()
    }

    /// How much weight it still takes, in kilograms.
    ///
    /// ```
    /// use stowage::{Crate, Hold, strategy::FirstFit};
    ///
    /// let mut hold = Hold::new(4.0, 2.0, 2.0).with_limit(500.0);
    /// hold.stow(&[Crate::new("tea", 1.0, 1.0, 1.0, 180.0)?], &FirstFit)?;
    /// assert_eq!(hold.remaining(), 320.0);
    /// # Ok::<(), stowage::Error>(())
    /// ```
    #[must_use]
    pub fn remaining(&self) -> f64 {
        self.limit - self.loaded
    }

    /// Puts all pieces into the hold, in the order and at the places that the strategy chooses.
    ///
    /// Either everything is stowed or nothing is: after an error the hold is as it was.
    ///
    /// # Errors
    ///
    /// * [`Error::TooHeavy`] for the first piece that goes beyond [`Hold::limit`], or beyond
    ///   [`HEAVIEST_PIECE`].
    /// * [`Error::NoRoom`] for the first piece that the strategy finds no place for.
    pub fn stow<T, S>(&mut self, cargo: &[T], strategy: &S) -> Result<Plan>
    where
        T: Stowable,
        S: Strategy,
    {
        let mut plan = Plan::default();
        let mut loaded = self.loaded;
        for index in strategy.order(cargo) {
            let piece = &cargo[index];
            loaded += piece.weight();
            let excess = (loaded - self.limit).max(piece.weight() - HEAVIEST_PIECE);
            if excess > 0.0 {
                return Err(Error::TooHeavy {
                    label: piece.label().into(),
                    excess,
                });
            }
            let corner = strategy
                .place(self, &plan, piece)
                .ok_or_else(|| Error::NoRoom {
                    label: piece.label().into(),
                })?;
            plan.push(Placement::new(piece, corner));
        }
        self.loaded = loaded;
        Ok(plan)
    }

    /// Takes everything out again.
    pub fn clear(&mut self) {
        self.loaded = 0.0;
    }
}
