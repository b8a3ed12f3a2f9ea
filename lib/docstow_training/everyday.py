"""Everyday words for the words of documentation: data from which training questions are made."""

from __future__ import annotations

_TABLE = """
return: get, give me, find, fetch, what is
returns: get, give me, find, fetch, what is
get: read, fetch, find, look up, retrieve
gets: get, read, fetch, look up
retrieve: get, look up, read
obtain: get, grab
create: make, build, set up, start, new
creates: make, build, set up, new
construct: make, build, create
constructs: make, build, create
initialize: set up, prepare, start
instantiate: create, make
new: fresh, empty, another
allocate: reserve, make room for
set: change, choose, configure, give
sets: change, choose, configure, give
configure: set, choose, control, change
specify: choose, set, say
enable: turn on, switch on, allow
enables: turn on, switch on, allow
disable: turn off, switch off, prevent
disables: turn off, switch off, prevent
insert: add, put, store
inserts: add, put, store
append: add to the end, add, attach
appends: add to the end, add, attach
push: add, add to the end, put
pushes: add, add to the end
remove: delete, get rid of, drop, take out
removes: delete, get rid of, drop, take out
delete: remove, erase, get rid of
deletes: remove, erase, get rid of
clear: empty, remove everything from, reset
clears: empty, remove everything from, reset
discard: throw away, ignore, drop
convert: turn, change, transform, cast
converts: turn, change, transform
transform: change, convert, turn, map
parse: read, decode, interpret, turn text into
parses: read, decode, interpret
serialize: write, turn into text, convert, save, encode
deserialize: read, load, parse, decode
encode: turn into, write as, convert
decode: read back, turn back, parse
format: print, write as text, display
display: show, print
print: show, write to the terminal, output
iterate: loop, go through, walk
iterator: loop, sequence, stream of items
iterates: loop, go through
traverse: walk, go through
check: test, see, find out, tell
checks: see if, test whether, find out if
determine: find out, check, see
determines: find out, check, see
verify: check, make sure, confirm
validate: check, make sure it is right
ensure: make sure, guarantee
compute: calculate, work out, get
computes: calculate, work out, get
calculate: work out, compute, get
number: count, amount, how many
length: size, how long, how many items
len: size, length, count
capacity: space, room, size
size: length, how big
maximum: largest, limit, most, upper limit, biggest
minimum: smallest, least, lowest
element: item, entry, value, thing
elements: items, entries, values, things
entry: item, key and value, record
collection: list, container, set
array: list, fixed list
slice: part of a list, list, array
vector: list, growable array, array
sequence: list, series
map: dictionary, table, hash, lookup
dictionary: map, table
string: text, characters
str: string, text
character: letter, symbol
characters: letters, symbols
integer: number, whole number, int
float: decimal number, floating point number
boolean: true or false, flag
bytes: raw data, binary data, buffer
buffer: memory, bytes
path: file name, location
file: document on disk
directory: folder
folder: directory
execute: run, do, perform, launch
executes: run, do, perform
invoke: call, run
call: run, invoke, use
spawn: start, launch, run in the background
spawns: start, launch, run in the background
task: job, background work
thread: worker, parallel job
process: program, command
concurrently: at the same time, in parallel, at once
concurrent: parallel, at the same time
asynchronous: async, non blocking
asynchronously: async, without blocking, in the background
synchronous: blocking
block: wait, stop
blocks: wait until
await: wait for
wait: pause until, block until
waits: wait until, pause until
sleep: pause, wait, delay
delay: wait, pause
duration: time span, how long, time
timeout: time limit, give up after
elapsed: passed, how long it took
terminate: stop, end, kill, quit
terminates: stop, end, kill
abort: stop, cancel, kill
cancel: stop, abort
shutdown: stop, close, end
close: shut, stop, end
exit: quit, leave, stop
acquire: get, take, lock
release: free, let go, give back
lock: protect, guard, exclusive access
mutex: lock, exclusive access
atomic: thread safe
send: pass, deliver, transmit
sends: pass, deliver
receive: get, read, accept
receives: get, read
connection: link, socket
connect: open a connection, reach
request: call, query
response: reply, answer
header: field, metadata
error: failure, problem, what went wrong
errors: failures, problems
failure: error, problem
panic: crash, abort
panics: crash
fail: go wrong, not work
fails: goes wrong, does not work
invalid: wrong, bad, malformed
empty: blank, with nothing in it
missing: absent, not there, not given
absent: missing, not there
optional: may be missing, nullable
none: nothing, missing
default: standard, if nothing is given, fallback
equal: same, identical, match
compare: check which is bigger, see if equal
sort: order, arrange
sorts: order, arrange
reverse: backwards, opposite
order: sequence, sorting
filter: keep only, select, choose
find: search, look for, locate
finds: search, look for, locate
search: find, look for
match: find, fit
matches: fits, finds
replace: swap, substitute, change
replaces: swap, substitute, change
swap: exchange, switch
split: break up, cut, divide, separate
splits: break up, cut, divide
join: combine, put together, merge, wait for
merge: combine, join, put together
combine: merge, join, put together
concatenate: join, glue together, combine
copy: duplicate, clone
clone: copy, duplicate
copies: duplicate
write: save, output, store
writes: save, output, store
read: load, get, input
reads: load, get
load: read, open
store: save, keep, put
stores: save, keep
open: start using, access
reference: borrow, pointer
mutable: changeable, can be modified, editable
immutable: read only, cannot change
ownership: who owns it
pointer: address, reference
consume: use up, take
consumes: use up, take
modify: change, edit, update
update: change, modify, refresh
updates: change, modify
current: present, right now, existing
previous: last, earlier, before
next: following, one after
first: earliest, beginning, start
last: final, end
truncate: shorten, cut off
shrink: make smaller, reduce
extend: add many, grow, lengthen
extends: add many, grow
random: by chance, arbitrary
generate: make, produce, create
generates: make, produce
produce: make, give
provide: give, offer
provides: give, offer
represent: stand for, describe
represents: type for, describes, holds
specified: given, particular, certain
given: some, certain
associated: belonging, attached, linked
corresponding: matching
whether: if
contains: has, includes, holds
contain: have, include, hold
exists: is there, is present
multiple: several, many, more than one
additional: more, extra
entire: whole, complete, all
remaining: left, rest of
ignore: skip, leave out
skip: ignore, jump over
limit: restrict, cap, at most
restrict: limit
permit: allow, let
callback: function to run, hook, handler
function: callable, code
closure: function, lambda
parameter: argument, option
argument: parameter, option, input
attribute: property, field
property: attribute, field
field: member, attribute
method: function
instance: object
object: thing, value
implementation: version, backend
interface: api, trait
trait: interface
struct: type, record
enum: one of several options
generic: any type
wrapper: around, adapter
builder: step by step, options
compress: make smaller, zip, shrink
decompress: unzip, unpack, expand
encrypt: protect, make secret, scramble
decrypt: unscramble, read encrypted
hash: checksum, fingerprint, digest
signature: signed, proof
authenticate: log in, prove who
credentials: password, login
password: secret, login
environment: env, variables of the shell
terminal: console, command line, screen
stdout: standard output, terminal
color: colour, style
image: picture, graphic
row: line, record
column: field
query: question, search, ask for
database: db, storage
transaction: all or nothing
server: service, backend
client: user, caller
socket: connection, port
listen: accept connections, wait for
stream: flow, sequence
pipe: send through, connect
log: record, message, trace
metric: measure, counter
measure: time, benchmark
test: check, try
mock: fake, stub
temporary: temp, throwaway
permanently: for good, forever
immediately: right away, at once, now
periodically: every so often, again and again, every few seconds
repeatedly: again and again, in a loop
simultaneously: at the same time, at once
"""

EVERYDAY = {
    word: tuple(each.strip() for each in others.split(","))
    for word, _, others in (line.partition(": ") for line in _TABLE.strip().split("\n"))
}
"""Words of documentation to what people type instead."""
