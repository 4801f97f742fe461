-- Makes the requests of one run of wrk, and prints its figures as one line of JSON. The plan of plan.ts comes as key=value
-- behind wrk's `--`. There is one thread, so that all connections share this state.

local plan = {}
local head, tail, number, prefix, width
local secrets, heads = nil, {}
local random = math.random

local function lines(file)
  local found = {}
  for line in io.lines(file) do found[#found + 1] = line end
  return found
end

local function counted(n)
  return string.format('%s%0' .. width .. 'd', prefix, n)
end

local kinds = {}

-- GET with a random token, and a random id in the place of {hero}.
function kinds.get()
  local before, after = plan.path:match('^(.-){hero}(.*)$')
  local heroes, tokens = tonumber(plan.heroes), tonumber(plan.tokens)
  secrets = plan.file and lines(plan.file)
  local first = 'GET ' .. (before or plan.path)
  local rest = (after or '') .. head .. 'Authorization: Bearer '
  return function()
    local token = secrets and secrets[random(#secrets)] or counted(random(tokens))
    return first .. (before and random(heroes) or '') .. rest .. token .. '\r\n\r\n'
  end
end

local function post(path, type, authorization, body)
  return 'POST ' .. path .. head .. 'Authorization: ' .. authorization .. '\r\nContent-Type: ' .. type ..
    '\r\nContent-Length: ' .. #body .. '\r\n\r\n' .. body
end

local FORM = 'application/x-www-form-urlencoded'

-- POST of a hero with a name that no hero has.
function kinds.create()
  local tokens = tonumber(plan.tokens)
  return function()
    number = number + 1
    local body = '{"name":"' .. plan.name .. ' ' .. number .. '"}'
    return post(plan.path, 'application/json', 'Bearer ' .. counted(random(tokens)), body)
  end
end

-- The refresh grant. There are as many chains as connections: a request uses the token of an earlier answer.
function kinds.refresh()
  secrets = plan.file and lines(plan.file)
  local ready, taken = {}, 0
  function response(status, headers, body)
    local token = status == 200 and body:match('"refresh_token":"([^"]+)"')
    if token then ready[#ready + 1] = token end
  end
  return function()
    local token = table.remove(ready)
    if not token then
      number = number + 1
      token = secrets and secrets[number] or counted(number)
    end
    return post(plan.path, FORM, plan.basic, 'grant_type=refresh_token&refresh_token=' .. token)
  end
end

-- The code exchange. Each code is used once.
function kinds.code()
  return function()
    number = number + 1
    return post(plan.path, FORM, plan.basic, 'grant_type=authorization_code&code=' .. counted(number))
  end
end

-- The password grant of a random user.
function kinds.login()
  local users = tonumber(plan.users)
  return function()
    return post(plan.path, FORM, plan.basic,
      'grant_type=password&username=user+' .. random(users) .. '&password=' .. plan.password)
  end
end

function init(args)
  for _, arg in ipairs(args) do
    local key, value = arg:match('^(%w+)=(.*)$')
    if key then plan[key] = value end
  end
  math.randomseed(tonumber(plan.seed))
  prefix = plan.prefix or ''
  width = 32 - #prefix
  number = tonumber(plan.first or '1') - 1
  head = ' HTTP/1.1\r\nHost: ' .. plan.host .. '\r\n'
  if plan.gzip then head = head .. 'Accept-Encoding: gzip\r\n' end
  request = kinds[plan.kind]()
  if plan.pause then
    local longest = 2 * tonumber(plan.pause)
    -- At random: with equal pauses all connections would send at once, again and again.
    delay = function() return random(longest) end
  end
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    '\n{"requests":%d,"seconds":%.6f,"bytes":%d,"p50":%.1f,"p99":%.1f,"refused":%d,"failed":%d}\n',
    summary.requests, summary.duration / 1e6, summary.bytes,
    latency:percentile(50), latency:percentile(99),
    errors.status, errors.connect + errors.read + errors.write + errors.timeout))
end
