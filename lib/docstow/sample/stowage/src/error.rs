use std::fmt;

/// What can go wrong while stowing.
///
/// The variants carry what a caller needs to react: the label of the piece, and by how much it
/// misses.
///
/// ```
/// use stowage::{Crate, Error, Hold, strategy::FirstFit};
///
/// let mut hold = Hold::new(1.0, 1.0, 1.0);
/// let piano = Crate::new("grand piano", 2.7, 1.6, 1.0, 480.0)?;
/// match hold.stow(&[piano], &FirstFit) {
///     Err(Error::NoRoom { label }) => assert_eq!(label, "grand piano"),
///     other => panic!("unexpected: {other:?}"),
/// }
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Error {
    /// No free space is large enough for the piece, whichever way it is turned.
    NoRoom {
        /// The piece that was left on the quay.
        label: String,
    },
    /// The piece would bring the hold beyond its limit.
    TooHeavy {
        /// The piece that was left on the quay.
        label: String,
        /// Kilograms beyond the limit.
        excess: f64,
    },
    /// A length or weight that is zero, negative or not a number.
    Impossible(String),
    /// Nothing of that label is in the plan.
    Unknown(String),
}

impl Error {
    /// Whether a larger or stronger hold would help.
    ///
    /// ```
    /// use stowage::Error;
    ///
    /// assert!(Error::NoRoom { label: "tea".into() }.is_capacity());
    /// assert!(!Error::Unknown("tea".into()).is_capacity());
    /// ```
    #[must_use]
    pub fn is_capacity(&self) -> bool {
        matches!(self, Self::NoRoom { .. } | Self::TooHeavy { .. })
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoRoom { label } => write!(f, "no room for {label}"),
            Self::TooHeavy { label, excess } => write!(f, "{label} is {excess} kg too heavy"),
            Self::Impossible(what) => write!(f, "impossible: {what}"),
            Self::Unknown(label) => write!(f, "nothing called {label} is stowed"),
        }
    }
}

#[cfg(feature = "std")]
impl std::error::Error for Error {}

/// A result whose error is an [`Error`] unless said otherwise.
pub type Result<T, E = Error> = std::result::Result<T, E>;
