# Prints where a person signs in, reads where the browser came back to, and prints who it is.
# Arguments: the address of the service, the redirect URI, the id and the secret of the client.
require 'omniauth-oauth2'
require 'rack/mock'
require 'rack/session/cookie'

ISSUER, CALLBACK, ID, SECRET = ARGV

class Heroes < OmniAuth::Strategies::OAuth2
  option :name, 'heroes'
  option :client_options, site: ISSUER, authorize_url: '/auth/code', token_url: '/auth/token'
  option :scope, 'heroes'
  option :pkce, true
  uid { access_token.get('/me').parsed['id'].to_s }
  info { { name: access_token.get('/me').parsed['username'] } }

  # Without this line the query string of the callback is sent as a part of redirect_uri.
  def callback_url
    full_host + callback_path
  end
end

OmniAuth.config.request_validation_phase = nil
OmniAuth.config.logger.level = Logger::FATAL
application = Rack::Builder.new do
  use Rack::Session::Cookie, secret: 'a secret of the application alone, of sixty-four characters or more'
  use(OmniAuth::Builder) { provider Heroes, ID, SECRET }
  run ->(env) { [200, {}, [env.fetch('omniauth.auth').info.name]] }
end.to_app

browser = Rack::MockRequest.new(application)
home = CALLBACK[%r{\Ahttps?://[^/]+}]
begun = browser.post("#{home}/auth/heroes")
puts begun['Location']
$stdout.flush
cookie = begun['Set-Cookie'].to_s.split(';').first
puts browser.get($stdin.gets.strip, 'HTTP_COOKIE' => cookie).body
