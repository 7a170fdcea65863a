-- A path that ends in = goes on with a number, another one for each request of any run.
if wrk.path:sub(-1) == "=" then
  local number = os.time() * 1000000
  function request()
    number = number + 1
    return wrk.format(nil, wrk.path .. string.format("%d", number))
  end
end

-- Prints the result of a run on one line, in microseconds and counts.
function done(summary, latency, requests)
  local errors = summary.errors
  io.write(string.format(
    "result requests=%d micros=%d bytes=%d p50=%d p99=%d p999=%d errors=%d\n",
    summary.requests, summary.duration, summary.bytes,
    latency:percentile(50), latency:percentile(99), latency:percentile(99.9),
    errors.connect + errors.read + errors.write + errors.status + errors.timeout))
end
