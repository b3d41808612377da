# vmlib - what tools/vm is made of; tests use Machine directly.
# SPDX-License-Identifier: MIT
