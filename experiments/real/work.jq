# SPDX-License-Identifier: GPL-2.0-or-later
group_by(.city)|map({c:.[0].city,t:(map(.amount)|add)})|.[0:3]
