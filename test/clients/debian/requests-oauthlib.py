# Prints where a person signs in, reads where the browser came back to, and prints who it is.
# Arguments: the address of the service, the redirect URI, the id and the secret of the client.
import sys
from requests_oauthlib import OAuth2Session

issuer, callback, client_id, secret = sys.argv[1:]
session = OAuth2Session(client_id, redirect_uri=callback, scope=["heroes", "never-granted"])
address, state = session.authorization_url(f"{issuer}/auth/code")
print(address, flush=True)
session.fetch_token(f"{issuer}/auth/token", authorization_response=sys.stdin.readline().strip(), client_secret=secret)
print(session.get(f"{issuer}/me").json()["username"], flush=True)
