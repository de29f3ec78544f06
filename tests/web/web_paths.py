"""The pages that every test of all pages looks at."""

from urllib.parse import quote

from service_serving import CHILD, PARENT, PLACE, TARGET

CHECK = f"/check?snapshot={quote(PLACE)}&agent=Cart&target={quote(TARGET)}"
INSTANCE = quote('Receipt("u1")')
HOLDER = quote("acme@example.com/shop/prod/shop:cart/Receipt")
PAGES = (
    "/",
    "/snapshots/1",
    "/snapshots/3",
    "/snapshots/4",
    "/snapshots/1/agent?name=Cart",
    "/snapshots/1/agent?name=Report",
    f"/snapshots/4/agent?name={quote('<svg/onload=window.pwned=1>')}",
    f"/snapshots/3/cards/{PARENT}",
    f"/snapshots/3/cards/{CHILD}?at=2026-06-01T00:00:00Z",
    f"/snapshots/3/holder?holder={HOLDER}&agent={INSTANCE}",
    "/check",
    CHECK,
    f"/check?snapshot=@1&agent=Cart&target={quote('secret(?env) : <script>window.pwned=1</script> : x')}",
    f"/check?snapshot=@4&agent={quote('<svg/onload=window.pwned=1>')}&target={quote(TARGET)}",
    "/who-can",
    f"/who-can?snapshot=@3&target={quote(TARGET)}",
    f"/who-can?snapshot=@4&target={quote(TARGET)}",
    "/what-can",
    "/what-can?snapshot=@3&holder=Cart",
    "/what-can?snapshot=@3&holder=<script>window.pwned=1</script>",
    "/diff",
    "/diff?old=@1&new=@3",
    "/diff?old=@1&new=@2&edition=snapshot",
    "/diff?old=@1&new=@4",
    f"/diff?old=@1&new=@4&agent={quote('<svg/onload=window.pwned=1>')}",
    "/diff?old=@1&new=<script>window.pwned=1</script>",
    "/reach",
    f"/reach?snapshot=@1&to={quote('secret(?env) : reveal : any')}",
    "/reach?snapshot=@3&start=Cart",
    f"/reach?snapshot=@4&to={quote('agent(any) : any : any')}&assume=no-data",
    "/reach?snapshot=@1&to=<script>window.pwned=1</script>",
    "/chains",
    "/chains?snapshot=@1",
    "/chains?snapshot=@4&tool=bash",
    "/chains?snapshot=<script>window.pwned=1</script>",
    "/rules",
    "/rules/CARD007",
    "/sign-in?next=%22%3E%3Cscript%3Ewindow.pwned=1%3C/script%3E",
    "/snapshots/999",
)
