"""Names that Node's own types do not tell, and that code for it may have.

Those that its modules had in earlier versions are from the list of deprecations in its
documentation, those at the end of life; those that it has and does not document are what Node 20
shows of its modules and classes beyond the types of that version.
"""

from __future__ import annotations

_ENCODINGS = ("ascii", "base64", "base64url", "hex", "latin1", "ucs2", "utf8")

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
        # what is not documented
        *(f"{name}Slice" for name in _ENCODINGS),
        *(f"{name}Write" for name in _ENCODINGS),
        *("sendto", "FileReadStream", "FileWriteStream", "addRequest", "removeSocket"),
        *("setTrailer", "globalPaths", "moduleLoadList", "reallyExit", "openStdin", "initgroups"),
        *("ReadableState", "WritableState", "readableBuffer", "writableBuffer", "isDestroyed"),
        *("isWritable", "lastChar", "lastNeed", "lastTotal", "setServername", "setSession"),
        *("setOptions", "parseHost", "convertALPNProtocols", "createTask", "isValidSyntax"),
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
