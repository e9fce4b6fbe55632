"""The same sealing by others: Python's PBKDF2 and the AES-GCM of `cryptography`.

seal.py seal ROUNDS PASSPHRASE < plaintext > document
seal.py seal-with CIPHER DIGEST DERIVATION ROUNDS PASSPHRASE < plaintext > document that states none of the four
seal.py open PASSPHRASE < document > plaintext
"""
import base64
import hashlib
import os
import re
import sys

from cryptography.hazmat.primitives.ciphers.aead import AESGCM

HEAD = """apiVersion: machineadm.cluster.x-k8s.io/v1alpha1
kind: EncryptedConfig
spec:
  provider: file
  passphraseURI: file:///passphrase
"""


def key(passphrase, salt, rounds):
    return hashlib.pbkdf2_hmac("sha512", passphrase.encode(), salt, rounds, dklen=32)


def document(salt, iv, ciphertext):
    fields = {"salt": salt, "iv": iv, "ciphertext": ciphertext}
    lines = [f"  {name}: {base64.b64encode(value).decode()}\n" for name, value in fields.items()]
    return HEAD + "".join(lines)


def seal(text, passphrase, rounds):
    salt, iv = os.urandom(24), os.urandom(12)
    ciphertext = AESGCM(key(passphrase, salt, rounds)).encrypt(iv, text, None)
    return document(salt, iv, ciphertext) + f"  iterations: {rounds}\n"


def seal_with(text, cipher, digest, derivation, rounds, passphrase):
    """With the algorithms that these names stand for, none of which the document states."""
    salt, iv = os.urandom(24), os.urandom(12)
    derive = {"pbkdf2": hashlib.pbkdf2_hmac}[derivation]
    aead, size = {"aes-256-gcm": (AESGCM, 32), "aes-128-gcm": (AESGCM, 16)}[cipher]
    derived = derive(digest.replace("-", ""), passphrase.encode(), salt, int(rounds), dklen=size)
    return document(salt, iv, aead(derived).encrypt(iv, text, None))


def open_(document, passphrase):
    field = lambda name: re.search(rf'^  {name}: "?([^"\n]*)"?$', document, re.MULTILINE).group(1)
    salt, iv, ciphertext = (base64.b64decode(field(name), validate=True) for name in ("salt", "iv", "ciphertext"))
    return AESGCM(key(passphrase, salt, int(field("iterations")))).decrypt(iv, ciphertext, None)


if sys.argv[1] == "seal":
    sys.stdout.write(seal(sys.stdin.buffer.read(), sys.argv[3], int(sys.argv[2])))
elif sys.argv[1] == "seal-with":
    sys.stdout.write(seal_with(sys.stdin.buffer.read(), *sys.argv[2:]))
else:
    sys.stdout.buffer.write(open_(sys.stdin.read(), sys.argv[2]))
