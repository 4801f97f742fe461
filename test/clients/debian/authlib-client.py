# Prints where a person signs in, reads where the browser came back to, and prints who it is.
# Arguments: the address of the service, the redirect URI, the id and the secret of the client.
import sys
from authlib.common.security import generate_token
from authlib.integrations.requests_client import OAuth2Session

issuer, callback, client_id, secret = sys.argv[1:]
session = OAuth2Session(client_id, secret, redirect_uri=callback, scope="heroes", code_challenge_method="S256")
verifier = generate_token(48)
address, state = session.create_authorization_url(f"{issuer}/auth/code", code_verifier=verifier)
print(address, flush=True)
answer = sys.stdin.readline().strip()
session.fetch_token(f"{issuer}/auth/token", authorization_response=answer, code_verifier=verifier)
print(session.get(f"{issuer}/me").json()["username"], flush=True)
