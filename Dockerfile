# Production dependencies alone, installed once for each change of the lock file.
FROM node:26-slim AS dependencies
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev --ignore-scripts

FROM node:26-slim
WORKDIR /app
COPY --from=dependencies /app/node_modules ./node_modules
COPY package.json openapi.yaml ./
COPY src ./src
COPY scripts/copy-plants.ts ./scripts/
# The only place that is written to: the root file system may be read-only.
RUN install -d -o node -g node /data
VOLUME /data
ENV NODE_ENV=production \
    HOST=0.0.0.0 \
    PORT=3000 \
    DATABASE_URL=sqlite:/data/plants.db
EXPOSE 3000
USER node
HEALTHCHECK --interval=10s --timeout=3s --start-period=10s \
  CMD ["node", "-e", "http.get({ port: process.env.PORT || 3000, host: '127.0.0.1', path: '/healthz' }, ({ statusCode }) => process.exit(statusCode === 200 ? 0 : 1)).on('error', () => process.exit(1))"]
# Node itself is the first process, so it is told when to stop.
CMD ["node", "src/main.ts"]
