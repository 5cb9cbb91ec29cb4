# Installs the production dependencies of the copied workspaces. Cached until a copied file changes.
FROM node:26-slim@sha256:930557a230abacbc3f4fd9b8648abf8f4bee1e17cb72195dcdfb2f709bc85b33 AS dependencies
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY packages/spec-first-server/package.json ./packages/spec-first-server/
# npm links the command only if it exists.
COPY packages/spec-first-server/src/start.js ./packages/spec-first-server/src/
COPY packages/openapi-document/package.json ./packages/openapi-document/
COPY packages/group-commit/package.json ./packages/group-commit/
RUN npm ci --omit=dev --omit=optional --omit=peer --ignore-scripts

FROM node:26-slim@sha256:930557a230abacbc3f4fd9b8648abf8f4bee1e17cb72195dcdfb2f709bc85b33
WORKDIR /app
COPY --from=dependencies /app/node_modules ./node_modules
COPY package.json openapi.yaml ./
COPY packages/spec-first-server ./packages/spec-first-server
COPY packages/openapi-document ./packages/openapi-document
COPY packages/group-commit ./packages/group-commit
COPY src ./src
COPY examples/eov ./examples/eov
COPY scripts/backup.ts scripts/copy-plants.ts ./scripts/
# The service writes only to this folder: the root file system may be read-only.
RUN install -d -o node -g node /data node_modules/.cache
VOLUME /data
ENV NODE_ENV=production \
    HOST=0.0.0.0 \
    PORT=3000 \
    DATABASE_URL=sqlite:/data/plants.db
EXPOSE 3000
USER node
# Starts the service with each database, to create a compile cache: without it, a start takes twice
# the time, and 30 MiB more memory. The cache is read-only afterwards.
RUN for url in sqlite:/tmp/plants.db postgres://127.0.0.1/plants; do \
    ACCESS_TOKENS=build METRICS_PORT=9464 DATABASE_URL="$url" \
      timeout --preserve-status 10 node_modules/.bin/spec-first-server || exit 1; \
  done && \
  rm /tmp/plants.db* && chmod -R a-w node_modules/.cache
HEALTHCHECK --interval=10s --timeout=3s --start-period=10s \
  CMD ["node", "-e", "http.get({ port: process.env.PORT || 3000, host: '127.0.0.1', path: '/healthz' }, ({ statusCode }) => process.exit(statusCode === 200 ? 0 : 1)).on('error', () => process.exit(1))"]
# The command replaces itself with Node, so Node is the first process and gets the signals.
CMD ["node_modules/.bin/spec-first-server"]
