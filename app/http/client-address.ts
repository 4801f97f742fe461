import { isIP, isIPv4 } from 'node:net'
import type { FastifyRequest } from 'fastify'
import ipaddr from 'ipaddr.js'
import type { Origin } from '../../core/index.js'
import { traceIdOf } from './trace.js'

/** The address by which login attempts are counted. For IPv6 it is the /64, because one subscriber gets a whole /64. */
export const addressOf = (text: string): string => {
  // The usual case. Node takes an IPv4 address in its shortest form alone, which is how it is counted.
  if (isIPv4(text)) return text
  const ip = bareAddress(text)
  if (!ipaddr.isValid(ip)) return text
  // `process` turns an IPv4 address that is written as an IPv6 address (`::ffff:192.0.2.1`) into IPv4.
  const address = ipaddr.process(ip)
  if (address instanceof ipaddr.IPv4) return address.toString()
  return `${address.parts
    .slice(0, 4)
    .map(part => part.toString(16))
    .join(':')}::/64`
}

/** Where the request comes from. */
export const originOf = (request: FastifyRequest): Origin => ({
  address: addressOf(request.ip),
  requestId: request.id,
  traceId: traceIdOf(request)
})

const NAMED: Readonly<Record<string, readonly string[]>> = {
  loopback: ['127.0.0.0/8', '::1'],
  linklocal: ['169.254.0.0/16', 'fe80::/10'],
  uniquelocal: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7']
}

/**
 * Whether an address of `X-Forwarded-For`, or of a connection, is in a list of addresses and networks. Fastify's own
 * judgement takes an address with a port for no address, and so for a client.
 */
export const trustedProxies = (list: string): ((address: string) => boolean) => {
  const networks = list.split(',').flatMap(name => (NAMED[name.trim()] ?? [name.trim()]).map(networkOf))
  return text => {
    const ip = bareAddress(text)
    if (isIP(ip) === 0) return false
    const address = ipaddr.process(ip)
    return networks.some(([network, bits]) => address.kind() === network.kind() && address.match(network, bits))
  }
}

type Network = readonly [address: ipaddr.IPv4 | ipaddr.IPv6, bits: number]

const networkOf = (text: string): Network => {
  const [start = '', bits] = text.split('/')
  const address = ipaddr.parse(start)
  const length = Number(bits ?? address.toByteArray().length * 8)
  // As `process` does with addresses.
  if (address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress() && length >= 96) {
    return [address.toIPv4Address(), length - 96]
  }
  return [address, length]
}

/**
 * Some proxies send `192.0.2.1:5678`, `[2001:db8::1]` or `[2001:db8::1]:5678`. The zone of an IPv6 address, as in
 * `fe80::1%eth0.1`, says by which interface it is reached and not whose it is. ipaddr.js knows fewer zones than Node.
 */
const bareAddress = (text: string): string => {
  const [, bracketed, dotted] = /^(?:\[([^\]]*)\](?::\d+)?|([\d.]+):\d+)$/.exec(text) ?? []
  return (bracketed ?? dotted ?? text).replace(/(:[^%]*)%.*$/s, '$1')
}
