// Serves in several processes that share the port: pm2 start ecosystem.config.cjs
// PM2 needs Node 24 or newer. It writes the log of the service to ~/.pm2/pm2.log, and stops the
// service with SIGINT, which has the effect of SIGTERM.
// Set no METRICS_PORT: `pm2 reload` starts a process while the former one still uses this port.
module.exports = {
  apps: [
    {
      name: 'plants',
      script: 'src/main.ts',
      node_args: '--disable-sigusr1 --max-heap-size=512 --import spec-first-server/compile-cache',
      env: { NODE_ENV: 'production' },
      exec_mode: 'cluster',
      instances: 4,
      wait_ready: true,
      // DRAIN_SECONDS, 20 s for the stop, and 2 s for the last log lines.
      kill_timeout: 25_000,
    },
  ],
};
