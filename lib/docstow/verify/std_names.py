"""The standard library's types and traits, with the methods and constants that each brings.

This room knows names alone. They are read from the library's own documentation (1.98), unstable
ones included: a name that is missing here would be called wrong elsewhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

_TRAITS = """
Add: add
AddAssign: add_assign
Allocator: allocate allocate_zeroed by_ref deallocate grow grow_zeroed shrink
Any: type_id
AsFd: as_fd
AsHandle: as_handle
AsMut: as_mut
AsRawFd: as_raw_fd
AsRawHandle: as_raw_handle
AsRawSocket: as_raw_socket
AsRef: as_ref
AsSocket: as_socket
AsciiExt: eq_ignore_ascii_case is_ascii make_ascii_lowercase make_ascii_uppercase
    to_ascii_lowercase to_ascii_uppercase
AsyncDrop: drop
AsyncFn: async_call
AsyncFnMut: async_call_mut
AsyncFnOnce: async_call_once
AsyncIterator: poll_next size_hint
AtomicPrimitive:
Binary: fmt
BitAnd: bitand
BitAndAssign: bitand_assign
BitOr: bitor
BitOrAssign: bitor_assign
BitXor: bitxor
BitXorAssign: bitxor_assign
Borrow: borrow
BorrowMut: borrow_mut
BoundedCastFromInt: saturating_cast_from wrapping_cast_from
BufRead: consume fill_buf has_data_left lines read_line read_until skip_until split
BuildHasher: build_hasher hash_one
BuiltinDeref:
CarryingMulAdd: carrying_mul_add
CarrylessMul: carryless_mul
ChangePointee:
CheckedCastFromInt: checked_cast_from strict_cast_from unchecked_cast_from
ChildExt: into_pidfd kill_process_group main_thread_handle pidfd send_process_group_signal
    send_signal
Clone: clone clone_from
CloneFromCell:
CloneToUninit: clone_to_uninit
CoerceShared:
CoerceUnsized:
CommandExt: arg0 async_pipes before_exec chroot create_pidfd creation_flags exec force_quotes
    gid groups inherit_handles pre_exec process_group raw_arg setsid show_window
    spawn_with_attributes startupinfo_force_feedback startupinfo_fullscreen
    startupinfo_untrusted_source uid
Concat: concat
ConstParamTy_:
Copy:
Coroutine: resume
CountBits: vec_cntlz vec_cnttz vec_popcnt
Debug: fmt
Default: default
Deref: deref
DerefMut: deref_mut
DerefPure:
Destruct:
DirBuilderExt: mode
DirEntryExt: ino
DirEntryExt2: file_name_ref
DiscriminantKind:
DisjointBitOr: disjoint_bitor
DispatchFromDyn:
Display: fmt
Distribution: sample
Div: div
DivAssign: div_assign
Dmb: __dmb
DoubleEndedIterator: advance_back_by next_back next_chunk_back nth_back rfind rfold try_rfold
DoubleEndedSearcher:
Drop: drop pin_drop
Dsb: __dsb
Eq:
Error: cause description provide source
ExactSizeIterator: is_empty len
ExitCodeExt: from_raw
ExitStatusExt: continued core_dumped from_raw into_raw signal stopped_signal
Extend: extend extend_one extend_reserve
Field: OFFSET
FileExt: read_at read_buf_at read_buf_exact_at read_exact_at read_vectored_at seek_read
    seek_read_buf seek_write write_all_at write_at write_vectored_at
FileTimesExt: set_created
FileTypeExt: is_block_device is_char_device is_fifo is_socket is_symlink_dir is_symlink_file
FloatPrimitive:
FloatToInt:
Fn: call
FnMut: call_mut
FnOnce: call_once
FnPtr: addr
Freeze:
From: from
FromEndianBytes:
FromIterator: from_iter
FromRawFd: from_raw_fd
FromRawHandle: from_raw_handle
FromRawSocket: from_raw_socket
FromResidual: from_residual
FromStr: from_str
FunnelShift: unchecked_funnel_shl unchecked_funnel_shr
FusedIterator:
Future: poll
GetDisjointMutIndex: is_in_bounds is_overlapping
GlobalAlloc: alloc alloc_zeroed dealloc realloc
Hash: hash hash_slice
Hasher: finish write write_i128 write_i16 write_i32 write_i64 write_i8 write_isize
    write_length_prefix write_str write_u128 write_u16 write_u32 write_u64 write_u8
    write_usize
Index: index
IndexMut: index_mut
Into: into
IntoAsyncIterator: into_async_iter
IntoBounds: intersect into_bounds
IntoFuture: into_future
IntoIterator: into_iter
IntoRawFd: into_raw_fd
IntoRawHandle: into_raw_handle
IntoRawSocket: into_raw_socket
IsTerminal: is_terminal
Isb: __isb
Iterator: advance_by all any array_chunks by_ref chain cloned cmp cmp_by collect collect_into
    copied count cycle enumerate eq eq_by filter filter_map find find_map flat_map flatten
    fold for_each fuse ge gt inspect intersperse intersperse_with is_partitioned is_sorted
    is_sorted_by is_sorted_by_key last le lt map map_while map_windows max max_by max_by_key
    min min_by min_by_key ne next next_chunk nth partial_cmp partial_cmp_by partition
    partition_in_place peekable position product reduce rev rposition scan size_hint skip
    skip_while step_by sum take take_while try_collect try_find try_fold try_for_each
    try_reduce unzip zip
Join: join
JoinHandleExt: as_pthread_t into_pthread_t
LocalWake: wake wake_by_ref
LowerExp: fmt
LowerHex: fmt
MaskElement:
MetaSized:
MetadataExt: as_raw_stat atime atime_nsec blksize blocks change_time creation_time ctime
    ctime_nsec dev file_attributes file_index file_size gid ino last_access_time
    last_write_time mode mtime mtime_nsec nlink number_of_links rdev size st_atime
    st_atime_nsec st_birthtime st_birthtime_nsec st_blksize st_blocks st_ctime st_ctime_nsec
    st_dev st_flags st_gen st_gid st_ino st_lspare st_mode st_mtime st_mtime_nsec st_nlink
    st_rdev st_size st_uid uid volume_serial_number
Mul: mul
MulAssign: mul_assign
Neg: neg
Not: not
NumBufferTrait: DEFAULT
Octal: fmt
OneSidedRange: bound
OpenOptionsExt: access_mode attributes custom_flags mode security_qos_flags share_mode
OpenOptionsExt2: freeze_last_access_time freeze_last_write_time
Ord: clamp cmp max min
OsStrExt: as_bytes encode_wide from_bytes
OsStringExt: from_vec from_wide into_vec
PartialEq: eq ne
PartialOrd: ge gt le lt partial_cmp
Pattern: as_utf8_pattern into_searcher is_contained_in is_prefix_of is_suffix_of
    strip_prefix_of strip_suffix_of
PermissionsExt: file_attributes from_file_attributes from_mode mode set_file_attributes
    set_mode
PinCoerceUnsized:
Pointee:
PointeeSized:
Pointer: fmt
Product: product
RangeBounds: contains end_bound is_empty start_bound
RangePattern: MAX MIN sub_one
Read: by_ref bytes chain is_read_vectored read read_array read_be read_buf read_buf_exact
    read_exact read_le read_to_end read_to_string read_vectored take
Reborrow:
Receiver:
RefUnwindSafe:
Rem: rem
RemAssign: rem_assign
Residual:
ReverseSearcher: next_back next_match_back next_reject_back
Rng: fill_bytes
Searcher: haystack next next_match next_reject
Seek: rewind seek seek_relative stream_len stream_position
Select: select
Send:
Share: share
Shl: shl
ShlAssign: shl_assign
Shr: shr
ShrAssign: shr_assign
Sized:
SliceIndex: get get_mut get_unchecked get_unchecked_mut index index_mut
SlicePattern: as_slice
SocketAddrExt: as_abstract_name from_abstract_name
StdFloat: ceil cos exp exp2 floor fract ln log log10 log2 mul_add round round_ties_even sin
    sqrt trunc
StdioExt: replace_fd set_fd take_fd
Step: backward backward_checked backward_unchecked forward forward_checked forward_unchecked
    steps_between
StructuralPartialEq:
Sub: sub
SubAssign: sub_assign
Sum: sum
Swizzle: INDEX concat_swizzle concat_swizzle_mask swizzle swizzle_mask
Sync:
TcpStreamExt: deferaccept quickack set_deferaccept set_quickack
Termination: report
ToBytes: from_be_bytes from_le_bytes from_ne_bytes to_be_bytes to_le_bytes to_ne_bytes
ToOwned: clone_into to_owned
ToSocketAddrs: to_socket_addrs
ToString: to_string
TransmuteFrom: transmute
TrivialClone:
TruncateTarget:
TrustedLen:
TrustedStep:
Try: branch from_output
TryFrom: try_from
TryInto: try_into
Tuple:
UnixSocketExt: passcred set_passcred
Unpin:
UnsafeUnpin:
Unsize:
UnwindSafe:
UpperExp: fmt
UpperHex: fmt
UseCloned:
VaArgSafe:
Variance:
Wake: wake wake_by_ref
WidenTarget:
Write: by_ref flush is_write_vectored write write_all write_all_vectored write_char write_fmt
    write_str write_vectored
ZeroablePrimitive:
"""


@cache
def std_traits() -> Mapping[str, frozenset[str]]:
    """By the trait's name the names of its members."""
    lines = _TRAITS.replace("\n    ", " ").strip().splitlines()
    pairs = (line.partition(":") for line in lines)
    return {name: frozenset(members.split()) for name, _, members in pairs}


#: Traits that need no import: their methods can be called on whatever has them.
PRELUDE = frozenset(
    {
        *("AsMut", "AsRef", "Clone", "Default", "DoubleEndedIterator", "Drop", "Eq"),
        *("ExactSizeIterator", "Extend", "Fn", "FnMut", "FnOnce", "From", "FromIterator", "Into"),
        *("IntoIterator", "Iterator", "Ord", "PartialEq", "PartialOrd", "ToOwned", "ToString"),
        *("TryFrom", "TryInto", "Future", "IntoFuture"),
    }
)

_TYPES = """
Abi AccessError AddrParseError Align1 Align2 Align4 Align8 Alignment AllocError Ancestors
AncillaryData AncillaryError Arc Args ArgsOs Argument Arguments Array ArrayChunks ArrayWindows
AsciiChar AssertUnwindSafe Assume Atomic AtomicBool AtomicI16 AtomicI32 AtomicI64 AtomicI8
AtomicIsize AtomicOrdering AtomicPtr AtomicU16 AtomicU32 AtomicU64 AtomicU8 AtomicUsize BTreeMap
BTreeSet Backtrace BacktraceFrame BacktraceStatus BacktraceStyle Barrier BarrierWaitResult
BasicBlock BinaryHeap Bool BorrowError BorrowMutError BorrowedBuf BorrowedCursor BorrowedFd
BorrowedHandle BorrowedSocket Bound Box BufReader BufWriter BuildHasherDefault Builder
ByRefSized ByteStr ByteString Bytes CStr CString Cell Chain Char CharArrayRefSearcher
CharArraySearcher CharCase CharIndices CharPredicateSearcher CharSearcher CharSliceSearcher
CharTryFromError Chars Child ChildStderr ChildStdin ChildStdout ChunkBy ChunkByMut Chunks
ChunksExact ChunksExactMut ChunksMut Clamp Class Cloned Command CommandArgs CommandEnvs
CommandResolvedEnvs Component Components Condvar Const Context ContextBuilder ControlFlow Copied
CoroutineState Cow CpuidResult Cursor CursorMut CursorMutKey Cycle Debug DebugAsHex DebugList
DebugMap DebugSet DebugStruct DebugTuple DecodeUtf16 DecodeUtf16Error DefaultHasher Difference
Dir DirBuilder DirEntry Discriminant Display Drain DrainSorted DropGuard Duration DynMetadata
DynTrait DynTraitPredicate Empty EncodeUtf16 EncodeWide Entry Enum Enumerate Error ErrorKind
EscapeAscii EscapeDebug EscapeDefault EscapeUnicode ExitCode ExitStatus ExitStatusError
ExtractIf Field FieldId FieldRepresentingType File FileDesc FileTimes FileType Filter FilterMap
FlatMap Flatten Float FnPtr Formatter FormattingOptions FpCategory FromBytesUntilNulError
FromBytesWithNulError FromCoroutine FromFn FromIter FromUtf16Error FromUtf8Error
FromVecWithNulError Fuse Generic GenericType GetDisjointMutError Global HANDLE HandleOrInvalid
HandleOrNull HashMap HashSet HvxVector HvxVectorPair HvxVectorPred Incoming Infallible Inspect
Instant Int IntErrorKind Internal Intersection Intersperse IntersperseWith IntoChars
IntoIncoming IntoInnerError IntoIter IntoIterSorted IntoKeys IntoStringError IntoValues
InvalidHandleError IoSlice IoSliceMut IpAddr Ipv4Addr Ipv6Addr Ipv6MulticastScope Iter IterMut
JoinHandle JoinPathsError Keys Last Layout LayoutErr LayoutError LazyCell LazyLock Lifetime
LineWriter Lines LinesAny LinkedList LocalKey LocalWaker Locality Location LockResult
ManuallyDrop Map MapWhile MapWindows MappedMutexGuard MappedRwLockReadGuard
MappedRwLockWriteGuard Mask MatchIndices Matches MaybeDangling MaybeDone MaybeUninit Messages
Metadata Mutex MutexGuard NonNull NonZero NonZeroI128 NonZeroI16 NonZeroI32 NonZeroI64 NonZeroI8
NonZeroIsize NonZeroU128 NonZeroU16 NonZeroU32 NonZeroU64 NonZeroU8 NonZeroUsize NormalizeError
NulError NullHandleError NumBuffer OccupiedEntry OccupiedError Once OnceCell OnceLock OnceState
OnceWith OneSidedRangeBound OpenOptions Option OptionFlatten Ordering OsStr OsString Output
OwnedFd OwnedHandle OwnedSocket PanicHookInfo PanicInfo PanicMessage ParseBoolError
ParseCharError ParseError ParseFloatError ParseIntError Path PathBuf PeekMut Peekable Pending
Permissions PhantomContravariant PhantomContravariantLifetime PhantomCovariant
PhantomCovariantLifetime PhantomData PhantomInvariant PhantomInvariantLifetime PhantomPinned
PidFd Pin PipeReader PipeWriter Pointer PoisonError Poll PollFn Prefix PrefixComponent
ProcThreadAttributeList ProcThreadAttributeListBuilder RChunks RChunksExact RChunksExactMut
RChunksMut RMatchIndices RMatches RSplit RSplitMut RSplitN RSplitNMut RSplitTerminator
RandomState Range RangeFrom RangeFromIter RangeFull RangeInclusive RangeInclusiveIter RangeIter
RangeMut RangeTo RangeToInclusive RawFd RawHandle RawOsError RawPthread RawSocket RawWaker
RawWakerVTable Rc ReadDir Ready Receiver RecvError RecvTimeoutError ReentrantLock
ReentrantLockGuard Ref RefCell RefMut Reference Repeat RepeatN RepeatWith Report Request Result
ReturnToArg Rev Reverse RwLock RwLockReadGuard RwLockWriteGuard SEL SOCKET SY Saturating Scan
ScmCredentials ScmRights Scope ScopedJoinHandle SearchStep SeekFrom SendError SendTimeoutError
Sender Shutdown Sign Sink SipHasher Skip SkipWhile Slice SocketAddr SocketAddrV4 SocketAddrV6
SocketAncillary SocketCred Source Splice Split SplitAsciiWhitespace SplitInclusive
SplitInclusiveMut SplitMut SplitN SplitNMut SplitPaths SplitTerminator SplitWhitespace Stderr
StderrLock Stdin StdinLock Stdio Stdout StdoutLock StepBy Str StrSearcher String
StripPrefixError Struct Successors SymmetricDifference SyncSender SyncUnsafeCell SyncView System
SystemRng SystemTime SystemTimeError Take TakeWhile TcpListener TcpStream ThinBox Thread
ThreadId ToCasefold ToLowercase ToTitlecase ToUppercase Trait TraitImpl TryFromCharError
TryFromFloatSecsError TryFromIntError TryFromSliceError TryIter TryLockError TryLockResult
TryRecvError TryReserveError TryReserveErrorKind TrySendError Tuple Type TypeId TypeKind UCred
UdpSocket Union UniqueArc UniqueRc UnixDatagram UnixListener UnixStream UnorderedKeyError
UnsafeCell UnsafePinned UnwindActionArg UnwindTerminateReason Utf8Chunk Utf8Chunks Utf8Error
Utf8Pattern VaList VacantEntry Values ValuesMut VarError Variant Vars VarsOs Vec VecDeque
WaitTimeoutResult Waker Weak Windows WouldBlock Wrapping WriterPanicked XdgDirsIter Yeet Zip
"""

#: Names of its types: where a signature has one of these, nobody knows whose it is.
STANDARD_TYPES = frozenset(_TYPES.split())
