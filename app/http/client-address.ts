import ipaddr from 'ipaddr.js'

/** The address by which login attempts are counted. For IPv6 it is the /64, because one subscriber gets a whole /64. */
export const addressOf = (ip: string): string => {
  if (!ipaddr.isValid(ip)) return ip
  // `process` turns an IPv4 address that is written as an IPv6 address (`::ffff:192.0.2.1`) into IPv4.
  const address = ipaddr.process(ip)
  if (address instanceof ipaddr.IPv4) return address.toString()
  return `${address.parts
    .slice(0, 4)
    .map(part => part.toString(16))
    .join(':')}::/64`
}
