import ipaddr from 'ipaddr.js'

/** What counts as one address where attempts are counted: an IPv4 address, or an IPv6 /64, which is what one subscriber gets. */
export const addressOf = (ip: string): string => {
  if (!ipaddr.isValid(ip)) return ip
  // An IPv4 address that is written as an IPv6 one (`::ffff:192.0.2.1`) comes out as IPv4.
  const address = ipaddr.process(ip)
  if (address instanceof ipaddr.IPv4) return address.toString()
  return `${address.parts
    .slice(0, 4)
    .map(part => part.toString(16))
    .join(':')}::/64`
}
