// Certificates of X.509 (RFC 5280), made with node:crypto alone.

import { generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'
import { isIP } from 'node:net'

export interface Certificate {
  /** Both as PEM. */
  readonly certificate: string
  readonly key: string
}

export interface Authority extends Pick<Certificate, 'certificate'> {
  /** Makes a certificate for a host name or an IPv4 address. */
  issue(host: string): Certificate
}

/** Makes an authority that signs its own certificate. */
export const createAuthority = (name: string): Authority => {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  return {
    certificate: build(name, name, publicKey, privateKey, [CRITICAL_AUTHORITY]),
    issue(host) {
      const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' })
      const place = isIP(host)
        ? tagged(0x87, Buffer.from(host.split('.').map(Number)))
        : tagged(0x82, Buffer.from(host))
      const certificate = build(name, host, pair.publicKey, privateKey, [extension(ALTERNATIVE_NAME, sequence(place))])
      return { certificate, key: pair.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString() }
    }
  }
}

const tagged = (tag: number, ...parts: readonly Buffer[]): Buffer => {
  const content = Buffer.concat(parts)
  const { length } = content
  if (length < 0x80) return Buffer.concat([Buffer.from([tag, length]), content])
  return Buffer.concat([Buffer.from([tag, 0x82, length >> 8, length & 0xff]), content])
}

const sequence = (...parts: readonly Buffer[]): Buffer => tagged(0x30, ...parts)
const identifier = (hex: string): Buffer => tagged(0x06, Buffer.from(hex, 'hex'))

const ECDSA_WITH_SHA256 = sequence(identifier('2a8648ce3d040302'))
const COMMON_NAME = identifier('550403')
const BASIC_CONSTRAINTS = identifier('551d13')
const ALTERNATIVE_NAME = identifier('551d11')
const TRUE = tagged(0x01, Buffer.from([0xff]))

const extension = (id: Buffer, value: Buffer): Buffer => sequence(id, tagged(0x04, value))
const CRITICAL_AUTHORITY = sequence(BASIC_CONSTRAINTS, TRUE, tagged(0x04, sequence(TRUE)))

const named = (name: string): Buffer => sequence(tagged(0x31, sequence(COMMON_NAME, tagged(0x0c, Buffer.from(name)))))
const time = (text: string): Buffer => tagged(0x18, Buffer.from(text))

const build = (
  issuer: string,
  subject: string,
  publicKey: KeyObject,
  signingKey: KeyObject,
  extensions: readonly Buffer[]
): string => {
  const toBeSigned = sequence(
    tagged(0xa0, tagged(0x02, Buffer.from([2]))),
    tagged(0x02, Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    ECDSA_WITH_SHA256,
    named(issuer),
    sequence(time('20200101000000Z'), time('21200101000000Z')),
    named(subject),
    publicKey.export({ type: 'spki', format: 'der' }),
    tagged(0xa3, sequence(...extensions))
  )
  const signature = tagged(0x03, Buffer.from([0]), sign('sha256', toBeSigned, signingKey))
  const lines =
    sequence(toBeSigned, ECDSA_WITH_SHA256, signature)
      .toString('base64')
      .match(/.{1,64}/g) ?? []
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`
}
