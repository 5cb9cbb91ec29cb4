-- Posts plants with ids that count up. Arguments: the token, the first id.
local id

function init(args)
  wrk.method = "POST"
  wrk.headers["Authorization"] = "Bearer " .. args[1]
  wrk.headers["Content-Type"] = "application/json"
  id = tonumber(args[2])
end

function request()
  local body = string.format('{"id":%d,"name":"Monstera deliciosa","tag":"tropical"}', id)
  id = id + 1
  return wrk.format(nil, nil, nil, body)
end

function done(summary, latency)
  local errors = summary.errors
  local failures = errors.connect + errors.read + errors.write + errors.status + errors.timeout
  io.write(string.format(
    'RESULT {"responses":%d,"failures":%d,"microseconds":%d,"p99":%d}\n',
    summary.requests, failures, summary.duration, latency:percentile(99)
  ))
end
