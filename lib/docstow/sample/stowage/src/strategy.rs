//! In which order cargo is loaded, and where it is put.
//!
//! | strategy | order | place |
//! | --- | --- | --- |
//! | [`FirstFit`] | as given | the first that is free |
//! | [`LargestFirst`] | by volume, then by density | the first that is free |
//! | [`Sorted`] | by a function of yours | as its inner strategy says |

use crate::{Hold, Placement, Plan, Stowable};
use std::cmp::Ordering;

/// Decides on order and place.
///
/// Implement [`Strategy::place`] for a way of your own; the order stays as given unless you
/// implement [`Strategy::order`] as well.
pub trait Strategy {
    /// The order in which the pieces are loaded, as indices into `cargo`.
    fn order<T: Stowable>(&self, cargo: &[T]) -> Vec<usize>
    where
        Self: Sized,
    {
        (0..cargo.len()).collect()
    }

    /// Where a piece goes, beside everything that is stowed already.
    ///
    /// Returns its aft lower port corner, or `None` if there is no room.
    fn place(&self, hold: &Hold, plan: &Plan, piece: &dyn Stowable) -> Option<[f64; 3]>;
}

/// Tries the corners next to what is stowed already, and takes the first that is free.
///
/// Fast, and good enough when pieces are alike.
#[derive(Clone, Copy, Debug, Default)]
pub struct FirstFit;

/// Loads the largest pieces first, of equal ones the denser first, each at the first free place.
///
/// Wastes least space when pieces differ much.
#[derive(Clone, Copy, Debug, Default)]
pub struct LargestFirst;

/// Loads in the order that a function gives, at the places of another strategy.
///
/// ```
/// use stowage::{Crate, Hold, Stowable, strategy::{FirstFit, Sorted}};
///
/// let cargo = [
///     Crate::new("a", 1.0, 1.0, 1.0, 10.0)?,
///     Crate::new("b", 1.0, 1.0, 1.0, 90.0)?,
/// ];
/// let heaviest_first = Sorted::by(FirstFit, |a, b| b.weight().total_cmp(&a.weight()));
/// let plan = Hold::new(4.0, 2.0, 2.0).stow(&cargo, &heaviest_first)?;
/// assert_eq!(plan.first().unwrap().label(), "b");
/// # Ok::<(), stowage::Error>(())
/// ```
pub struct Sorted<S, F> {
    inner: S,
    compare: F,
}

impl<S, F> Sorted<S, F>
where
    S: Strategy,
    F: Fn(&dyn Stowable, &dyn Stowable) -> Ordering,
{
    /// Loads in the order of `compare` and places as `inner` does.
    pub fn by(inner: S, compare: F) -> Self {
        Self { inner, compare }
    }
}

impl Strategy for FirstFit {
    fn place(&self, hold: &Hold, plan: &Plan, piece: &dyn Stowable) -> Option<[f64; 3]> {
        let extent = piece.extent();
        let step = extent.iter().copied().fold(f64::INFINITY, f64::min);
        let fits = |corner: &[f64; 3]| {
            let placed = Placement::new(piece, *corner);
            let inside = (0..3).all(|axis| corner[axis] + extent[axis] <= hold.extent()[axis]);
            inside && !plan.iter().any(|other| other.overlaps(&placed))
        };
        let steps =
            |axis: usize| (0..=(hold.extent()[axis] / step) as usize).map(move |n| n as f64 * step);
        steps(2)
            .flat_map(|z| steps(1).map(move |y| (y, z)))
            .flat_map(|(y, z)| steps(0).map(move |x| [x, y, z]))
            .find(fits)
    }
}

impl Strategy for LargestFirst {
    fn order<T: Stowable>(&self, cargo: &[T]) -> Vec<usize> {
        let volume = |piece: &T| piece.extent().iter().product::<f64>();
        let mut order: Vec<usize> = (0..cargo.len()).collect();
        order.sort_by(|a, b| {
            let (a, b) = (&cargo[*a], &cargo[*b]);
            volume(b)
                .total_cmp(&volume(a))
                .then(b.density().total_cmp(&a.density()))
        });
        order
    }

    fn place(&self, hold: &Hold, plan: &Plan, piece: &dyn Stowable) -> Option<[f64; 3]> {
        FirstFit.place(hold, plan, piece)
    }
}

impl<S, F> Strategy for Sorted<S, F>
where
    S: Strategy,
    F: Fn(&dyn Stowable, &dyn Stowable) -> Ordering,
{
    fn order<T: Stowable>(&self, cargo: &[T]) -> Vec<usize> {
        let mut order: Vec<usize> = (0..cargo.len()).collect();
        order.sort_by(|a, b| (self.compare)(&cargo[*a], &cargo[*b]));
        order
    }

    fn place(&self, hold: &Hold, plan: &Plan, piece: &dyn Stowable) -> Option<[f64; 3]> {
        self.inner.place(hold, plan, piece)
    }
}
