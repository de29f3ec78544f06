#!/bin/sh
# Asks the example application the questions of the README and prints real answers.
policyd=${1:-policyd}
cd "$(dirname "$0")/.." || exit 2

ask() {
    printf '\n$ policyd'
    for word in "$@"; do
        case $word in
            *[!A-Za-z0-9_./:=-]*) printf " '%s'" "$word" ;;
            *) printf ' %s' "$word" ;;
        esac
    done
    printf '\n'
    "$policyd" "$@"
    code=$?
    printf '(exit %s)\n' "$code"
    # 2 and 70 are no answers
    [ "$code" -ne 2 ] && [ "$code" -ne 70 ] || exit "$code"
}

echo '1. What is wrong with the cards of this manifest, and would its deploy be accepted?'
ask audit examples/shop/golem.yaml --env prod

echo; echo '2. May the cart call the payment provider?'
ask check examples/shop/golem.yaml --env prod --agent Cart 'network() : connect : api.stripe.com:443'

echo; echo '3. May it delete an order?'
ask check examples/shop/golem.yaml --env prod --agent Cart 'kv(?env) : delete : orders.42'

echo; echo '4. A request was refused. Why, and what is the narrowest change?'
ask explain examples/shop/golem.yaml --env prod --agent Cart --op http.send --arg url=https://hooks.stripe.com/v1

echo; echo '5. What does this pull request newly admit?'
ask diff examples/shop/golem.yaml examples/proofs/next.yaml --env prod

echo; echo '6. Who can get to the key of the payment provider, by acting alone?'
ask reach examples/shop/golem.yaml --env prod --to 'secret(?env) : reveal : stripe.key' --assume no-data

echo; echo '7. How long will these retries go on?'
ask retry simulate examples/retry/golem.yaml --env prod

echo; echo '8. Does the middleware fit its tools?'
ask chain check examples/chain/golem.yaml --env prod

echo; echo '9. What may the receipt sender do, and where does each grant come from?'
ask show examples/shop/golem.yaml --env prod --agent Receipt

echo; echo '10. What would a card of a wallet let its holder derive?'
ask card derive --wallet examples/wallet/wallet.json --at 2026-12-24T00:00Z --bounds examples/wallet/child.json --lifespan PT1H
