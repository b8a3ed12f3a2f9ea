"""Names that Node's own modules had in earlier versions, and that code of those days still has.

They are from the list of deprecations in Node's documentation, those at the end of life.
"""

from __future__ import annotations

FORMER_NAMES = frozenset(
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
        *("createClient", "parsers", "OutgoingMessage", "cat"),
        # assert, buffer, module, repl, stream, timers, tty, url, vm, zlib
        *("SlowBuffer", "INSPECT_MAX_BYTES", "kMaxLength", "requireRepl", "REPL_MODE_MAGIC"),
        *("builtinModules", "enroll", "unenroll", "active", "setRawMode", "setWindowSize"),
        *("getWindowSize", "resolveObject", "unescapeBuffer", "runInDebugContext"),
        *("createScript", "currentId", "triggerId", "usingDomains", "installGlobalHandlers"),
        *("getHashes", "setupMaster", "isMaster", "codes", "_extend"),
    }
)
