#!/bin/sh
# The last step of `npm ci`: links the packaged Node.js, and removes files of packages that nothing here reads.
cd node_modules || exit 0
set -e

# Node.js 24 is an optional dependency. npm links it where it does not run, too, as with musl: then the machine's own serves.
rm -f .bin/node
for node in node-linux-*/bin/node; do
  if $node --version >/dev/null 2>&1; then ln -s "../$node" .bin/node; fi
done
node -e 'process.features.typescript || (console.error(`No packaged Node.js runs on this machine, and its own is ${process.version}: 22.18 or newer is needed.`), process.exit(1))'

# 200 MB: the headers of Node.js, the Relay compiler for other systems, and source maps.
if [ "$(uname)" = Darwin ]; then other=linux; else other=macos; fi
rm -rf node-linux-*/include relay-compiler/win-* relay-compiler/$other-*
find . \( -name '*.js.map' -o -name '*.mjs.map' -o -name '*.cjs.map' -o -name '*.ts.map' -o -name '*.mts.map' -o -name '*.cts.map' -o -name '*.css.map' \) -delete
