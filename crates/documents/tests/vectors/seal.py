"""The same sealing by others: Python's PBKDF2 and the AES-GCM of `cryptography`.

seal.py seal ROUNDS PASSPHRASE < plaintext > document
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


def seal(text, passphrase, rounds):
    salt, iv = os.urandom(24), os.urandom(12)
    ciphertext = AESGCM(key(passphrase, salt, rounds)).encrypt(iv, text, None)
    fields = {"salt": salt, "iv": iv, "ciphertext": ciphertext}
    lines = [f"  {name}: {base64.b64encode(value).decode()}\n" for name, value in fields.items()]
    return HEAD + f"  iterations: {rounds}\n" + "".join(lines)


def open_(document, passphrase):
    field = lambda name: re.search(rf'^  {name}: "?([^"\n]*)"?$', document, re.MULTILINE).group(1)
    salt, iv, ciphertext = (base64.b64decode(field(name), validate=True) for name in ("salt", "iv", "ciphertext"))
    return AESGCM(key(passphrase, salt, int(field("iterations")))).decrypt(iv, ciphertext, None)


if sys.argv[1] == "seal":
    sys.stdout.write(seal(sys.stdin.buffer.read(), sys.argv[3], int(sys.argv[2])))
else:
    sys.stdout.buffer.write(open_(sys.stdin.read(), sys.argv[2]))
