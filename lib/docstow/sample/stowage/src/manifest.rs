//! Plans as text, for the mate's clipboard.

use crate::Plan;
use std::io::{self, Write};

/// How a manifest is laid out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Layout {
    /// One line for each piece.
    #[default]
    Lines,
    /// Comma-separated values with a header.
    Csv,
}

/// Writes a plan in the order of loading.
///
/// # Errors
///
/// Whatever the writer fails with.
///
/// ```
/// use stowage::{Crate, Hold, manifest, strategy::FirstFit};
///
/// let mut hold = Hold::new(4.0, 2.0, 2.0);
/// let plan = hold.stow(&[Crate::new("tea", 1.0, 1.0, 1.0, 180.0)?], &FirstFit)?;
/// let mut text = Vec::new();
/// manifest::write(&plan, manifest::Layout::Csv, &mut text).unwrap();
/// assert!(text.starts_with(b"label,weight\ntea,180"));
/// # Ok::<(), stowage::Error>(())
/// ```
pub fn write<W: Write>(plan: &Plan, layout: Layout, mut writer: W) -> io::Result<()> {
    if layout == Layout::Csv {
        writeln!(writer, "label,weight")?;
    }
    for placement in plan {
        let (label, weight) = (placement.label(), placement.weight());
        match layout {
            Layout::Csv => writeln!(writer, "{label},{weight}")?,
            Layout::Lines => writeln!(writer, "{label}: {weight} kg")?,
        }
    }
    Ok(())
}
