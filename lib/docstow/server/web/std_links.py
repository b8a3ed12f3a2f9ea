"""Where the standard library's docs have the types and traits that signatures name most."""

from __future__ import annotations

from collections.abc import Mapping

_ROOT = "https://doc.rust-lang.org/stable/std"
#: Names by the module and kind of their pages. Names that other crates use for their own types
#: (``Error``, ``Instant``) are left out: a signature does not say which is meant.
_PAGES: Mapping[str, str] = {
    "any/trait": "Any",
    "borrow/enum": "Cow",
    "borrow/trait": "Borrow BorrowMut ToOwned",
    "boxed/struct": "Box",
    "cell/struct": "RefCell UnsafeCell",
    "clone/trait": "Clone",
    "cmp/enum": "Ordering",
    "cmp/trait": "Eq Ord PartialEq PartialOrd",
    "collections/struct": "BTreeMap BTreeSet BinaryHeap HashMap HashSet VecDeque",
    "convert/trait": "AsMut AsRef From Into TryFrom TryInto",
    "default/trait": "Default",
    "ffi/struct": "CStr CString OsStr OsString",
    "fmt/struct": "Formatter",
    "fmt/trait": "Debug Display",
    "future/trait": "Future IntoFuture",
    "hash/trait": "BuildHasher Hash Hasher",
    "iter/trait": "DoubleEndedIterator ExactSizeIterator Extend FromIterator IntoIterator Iterator",
    "marker/struct": "PhantomData PhantomPinned",
    "marker/trait": "Copy Send Sized Sync Unpin",
    "mem/struct": "ManuallyDrop MaybeUninit",
    "net/enum": "IpAddr SocketAddr",
    "net/struct": "Ipv4Addr Ipv6Addr SocketAddrV4 SocketAddrV6",
    "ops/trait": "Deref DerefMut Drop Fn FnMut FnOnce Index IndexMut RangeBounds",
    "option/enum": "Option",
    "panic/trait": "RefUnwindSafe UnwindSafe",
    "path/struct": "Path PathBuf",
    "pin/struct": "Pin",
    "rc/struct": "Rc",
    "result/enum": "Result",
    "str/trait": "FromStr",
    "string/struct": "String",
    "string/trait": "ToString",
    "sync/struct": "Arc",
    "task/enum": "Poll",
    "task/struct": "Waker",
    "time/struct": "Duration SystemTime",
    "vec/struct": "Vec",
}
_FOUND = {
    name: f"{_ROOT}/{module}/{kind}.{name}.html"
    for (module, kind), names in ((place.split("/"), names) for place, names in _PAGES.items())
    for name in names.split()
}


def find(name: str) -> str:
    """Return where a type or trait is documented; empty for a name that is not known."""
    return _FOUND.get(name, "")
