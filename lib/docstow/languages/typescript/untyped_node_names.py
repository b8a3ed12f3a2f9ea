"""Names that Node's own types do not tell, and that code for it may have.

Those that its modules had in earlier versions are from the list of deprecations in its
documentation, those at the end of life; those that it has and does not document are what Node 20
shows of its modules and classes beyond the types of that version.
"""

from __future__ import annotations

_ENCODINGS = ("ascii", "base64", "base64url", "hex", "latin1", "ucs2", "utf8")

#: What its modules and classes have and nothing tells.
UNDOCUMENTED_NAMES = frozenset(
    {
        *(f"{name}Slice" for name in _ENCODINGS),
        *(f"{name}Write" for name in _ENCODINGS),
        *("sendto", "FileReadStream", "FileWriteStream", "addRequest", "removeSocket"),
        *("setTrailer", "globalPaths", "moduleLoadList", "reallyExit", "openStdin", "initgroups"),
        *("ReadableState", "WritableState", "readableBuffer", "writableBuffer", "isDestroyed"),
        *("isWritable", "lastChar", "lastNeed", "lastTotal", "setServername", "setSession"),
        *("setOptions", "parseHost", "convertALPNProtocols", "createTask", "isValidSyntax"),
    }
)

#: Those, and what its modules had, or go on having without showing it.
UNTYPED_NAMES = frozenset(
    {
        # util
        *("isArray", "isBoolean", "isBuffer", "isDate", "isError", "isFunction", "isNull"),
        *("isNullOrUndefined", "isNumber", "isObject", "isPrimitive", "isRegExp", "isString"),
        *("isSymbol", "isUndefined", "log", "print", "puts", "debug", "error", "pump", "exec"),
        # fs, path, os
        *("SyncWriteStream", "exists", "existsSync", "lchmod", "lchmodSync"),
        *("getNetworkInterfaces", "tmpDir", "F_OK", "R_OK", "W_OK", "X_OK"),
        # crypto, tls, net, http
        *("createCipher", "createDecipher", "createCredentials", "Credentials"),
        *("DEFAULT_ENCODING", "fips", "pseudoRandomBytes", "prng", "rng", "createSecurePair"),
        *("parseCertString", "CryptoStream", "SecurePair", "convertNPNProtocols"),
        *("createClient", "parsers", "cat"),
        # assert, buffer, module, repl, stream, timers, tty, url, vm, zlib
        *("SlowBuffer", "INSPECT_MAX_BYTES", "requireRepl", "REPL_MODE_MAGIC"),
        *("enroll", "unenroll", "active", "setRawMode", "setWindowSize"),
        *("getWindowSize", "resolveObject", "unescapeBuffer", "runInDebugContext"),
        *("createScript", "currentId", "triggerId", "usingDomains", "installGlobalHandlers"),
        *("setupMaster", "isMaster", "codes", "_extend", "Url"),
        *(f"Z_{flush}" for flush in ("NO_FLUSH", "PARTIAL_FLUSH", "SYNC_FLUSH", "FULL_FLUSH")),
        *(f"Z_{told}" for told in ("FINISH", "BLOCK", "OK", "STREAM_END", "NEED_DICT", "ERRNO")),
        *(f"Z_{kind}_ERROR" for kind in ("STREAM", "DATA", "MEM", "BUF", "VERSION")),
        *(f"Z_{level}" for level in ("NO_COMPRESSION", "BEST_SPEED", "BEST_COMPRESSION")),
        *(f"Z_DEFAULT_{what}" for what in ("COMPRESSION", "STRATEGY")),
        *(f"Z_{way}" for way in ("FILTERED", "HUFFMAN_ONLY", "RLE", "FIXED")),
        *(
            f"Z_{which}_{what}"
            for which in ("MIN", "MAX", "DEFAULT")
            for what in ("WINDOWBITS", "CHUNK", "MEMLEVEL", "LEVEL")
        ),
        *UNDOCUMENTED_NAMES,
    }
)

#: What others add to ``process``: Electron, by its documentation, and those who pack programs.
PROCESS_NAMES = frozenset(
    {
        *("type", "resourcesPath", "defaultApp", "isMainFrame", "mas", "sandboxed", "contextId"),
        *("contextIsolated", "parentPort", "windowsStore", "noAsar", "browser", "pkg", "isBun"),
        *("binding", "assert", "domain"),
    }
)
