// Serves in several processes that share the port: pm2 start ecosystem.config.cjs
// PM2 needs Node 24 or newer. It writes the log of the service to ~/.pm2/pm2.log, and stops the
// service with SIGINT, which has the effect of SIGTERM.
// Set no METRICS_PORT: `pm2 reload` starts a process while the former one still uses this port.
module.exports = {
  apps: [
    {
      name: 'plants',
      // PM2 runs the file in its own process, without the limit of the heap.
      script: 'node_modules/.bin/spec-first-server',
      interpreter: 'node',
      max_memory_restart: '1G',
      env: { NODE_ENV: 'production' },
      exec_mode: 'cluster',
      instances: 4,
      wait_ready: true,
      // DRAIN_SECONDS, 20 s for the stop, and 2 s for the last log lines.
      kill_timeout: 25_000,
    },
  ],
};
