"""Traits of small crates that widely used ones show as their own, with what they bring.

``use sha2::Digest`` brings the methods of ``digest::Digest``, which the docs of sha2 do not tell.
They are those of digest 0.10, crypto-common 0.1, aead 0.5, cipher 0.4, signature 2, rand_core 0.6
to 0.9, futures-core 0.3, http-body 1, tower-service 0.3 and tower-layer 0.3.
"""

from __future__ import annotations

from collections.abc import Mapping

_RESETTING = frozenset({"reset", "finalize_reset", "finalize_into_reset"})
_DIGEST = frozenset(
    {
        *("new", "new_with_prefix", "update", "chain_update", "finalize", "finalize_into"),
        *("output_size", "digest"),
    }
)
_KEYED = frozenset({"key_size", "new", "new_from_slice", "generate_key"})
_WITH_IV = frozenset({"iv_size", "new_from_slices", "generate_iv", "generate_key_iv", "inner_init"})
_CIPHER = frozenset(
    {
        *("apply_keystream", "apply_keystream_inout", "apply_keystream_b2b", "try_apply_keystream"),
        *("try_apply_keystream_inout", "try_apply_keystream_b2b", "seek", "try_seek"),
        *("current_pos", "try_current_pos", "write_keystream", "remaining"),
    }
)
_BLOCKS = frozenset(
    f"{way}_{what}"
    for way in ("encrypt", "decrypt")
    for what in (
        *("block", "blocks", "block_inout", "blocks_inout", "block_mut", "blocks_mut"),
        *("block_b2b", "blocks_b2b", "block_b2b_mut", "blocks_b2b_mut", "with_backend"),
        *("padded", "padded_mut", "padded_b2b", "padded_inout", "padded_vec", "padded_vec_mut"),
        *("padded_b2b_mut", "padded_inout_mut"),
    )
)
#: The names that each brings, by its whole path.
SHOWN_TRAITS: Mapping[str, frozenset[str]] = {
    "digest::Digest": _DIGEST | _RESETTING,
    "digest::DynDigest": _DIGEST | _RESETTING | {"box_clone", "finalize_into"},
    "digest::Update": frozenset({"update", "chain"}),
    "digest::FixedOutput": frozenset({"finalize_into", "finalize_fixed"}),
    "digest::ExtendableOutput": frozenset(
        {"finalize_xof", "finalize_xof_into", "digest_xof", "finalize_boxed"}
    ),
    "digest::XofReader": frozenset({"read", "read_boxed"}),
    "digest::Mac": _DIGEST
    | _RESETTING
    | _KEYED
    | {"verify", "verify_slice", "verify_reset", "verify_slice_reset"}
    | {"verify_truncated_left", "verify_truncated_right"},
    "crypto_common::KeyInit": _KEYED,
    "crypto_common::KeyIvInit": _KEYED | _WITH_IV,
    "aead::Aead": frozenset({"encrypt", "decrypt"}),
    "aead::AeadCore": frozenset({"generate_nonce"}),
    "aead::AeadInPlace": frozenset(
        {
            *("encrypt_in_place", "encrypt_in_place_detached", "decrypt_in_place"),
            "decrypt_in_place_detached",
        }
    ),
    "cipher::StreamCipher": _CIPHER,
    "cipher::StreamCipherSeek": _CIPHER,
    "cipher::BlockEncrypt": _BLOCKS,
    "cipher::BlockDecrypt": _BLOCKS,
    "cipher::BlockEncryptMut": _BLOCKS,
    "cipher::BlockDecryptMut": _BLOCKS,
    "signature::Signer": frozenset({"sign", "try_sign"}),
    "signature::SignerMut": frozenset({"sign", "try_sign"}),
    "signature::Verifier": frozenset({"verify"}),
    "signature::Keypair": frozenset({"verifying_key"}),
    "rand_core::RngCore": frozenset({"next_u32", "next_u64", "fill_bytes", "try_fill_bytes"}),
    "rand_core::TryRngCore": frozenset(
        {
            *("try_next_u32", "try_next_u64", "try_fill_bytes", "unwrap_err", "unwrap_mut"),
            "read_adapter",
        }
    ),
    "rand_core::SeedableRng": frozenset(
        {
            *("from_seed", "seed_from_u64", "from_rng", "try_from_rng", "from_entropy"),
            *("from_os_rng", "try_from_os_rng", "fork", "try_fork"),
        }
    ),
    "futures_core::Stream": frozenset({"poll_next", "size_hint"}),
    "http_body::Body": frozenset({"poll_frame", "is_end_stream", "size_hint"}),
    "tower_service::Service": frozenset({"poll_ready", "call"}),
    "tower_layer::Layer": frozenset({"layer"}),
}
