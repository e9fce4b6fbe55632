//! Stand-ins for what lends credentials: an instance metadata service that insists on IMDSv2, and STS.
use crate::fake_aws_kms::FakeAwsKms;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use testbed::fake::{FakeServer, answer};

/// What all of them lend: an id, whose number grows each time, with the same secret and token.
pub(crate) const SECRET: &str = "lent/secret";
pub(crate) const TOKEN: &str = "lent+token";
const SESSION: &str = "session-of-imdsv2";
const ROLE: &str = "kms-role";

/// How many credentials were lent, and for how many seconds.
pub(crate) struct Lender {
    pub(crate) lent: AtomicUsize,
    pub(crate) life: AtomicU64,
    pub(crate) is_down: AtomicBool,
    /// Answers nothing any more; how many requests have met that.
    pub(crate) hangs: AtomicBool,
    pub(crate) hung: AtomicUsize,
}

impl Lender {
    fn new() -> Arc<Self> {
        Arc::new(Self { lent: 0.into(), life: 3600.into(), is_down: false.into(), hangs: false.into(), hung: 0.into() })
    }

    /// The next id and its end.
    fn lend(&self) -> (String, jiff::Timestamp) {
        let number = self.lent.fetch_add(1, Ordering::SeqCst) + 1;
        let life = std::time::Duration::from_secs(self.life.load(Ordering::SeqCst));
        (format!("ASIALENT{number}"), jiff::Timestamp::now() + life)
    }
}

/// Lets the first credentials of a lender in.
pub(crate) fn admit_lent(fake: &FakeAwsKms, numbers: std::ops::RangeInclusive<usize>) {
    for number in numbers {
        fake.admit(&format!("ASIALENT{number}"), SECRET, Some(TOKEN));
    }
}

/// An instance metadata service on loopback: its URL and its lender. It answers nothing without a session.
pub(crate) fn metadata_service() -> (String, Arc<Lender>) {
    metadata_service_on(TcpListener::bind("127.0.0.1:0").unwrap())
}

/// The same at another place.
pub(crate) fn metadata_service_on(listener: TcpListener) -> (String, Arc<Lender>) {
    let (address, lender): (SocketAddr, _) = (listener.local_addr().unwrap(), Lender::new());
    let shared = Arc::clone(&lender);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let lender = Arc::clone(&shared);
            // A client that goes away has what it wanted.
            std::thread::spawn(move || drop(serve_metadata(stream, &lender)));
        }
    });
    (format!("http://{address}"), lender)
}

fn serve_metadata(stream: TcpStream, lender: &Lender) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream);
    loop {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            if reader.read_line(&mut head)? == 0 {
                return Ok(());
            }
        }
        if lender.hangs.load(Ordering::SeqCst) {
            lender.hung.fetch_add(1, Ordering::SeqCst);
            // Until the client goes: it sends nothing more.
            return reader.read_line(&mut head).map(drop);
        }
        let head = head.to_lowercase();
        let has_session = head.contains(&format!("x-aws-ec2-metadata-token: {SESSION}"));
        let role = format!("get /latest/meta-data/iam/security-credentials/{ROLE} ");
        let (status, body) = if lender.is_down.load(Ordering::SeqCst) {
            ("503 Service Unavailable", String::new())
        } else if head.starts_with("put /latest/api/token ") && head.contains("x-aws-ec2-metadata-token-ttl-seconds: ")
        {
            ("200 OK", SESSION.to_owned())
        } else if !has_session {
            ("401 Unauthorized", String::new())
        } else if head.starts_with("get /latest/meta-data/iam/security-credentials/ ") {
            ("200 OK", ROLE.to_owned())
        } else if head.starts_with(&role) {
            let (id, ends) = lender.lend();
            let body = serde_json::json!({
                "Code": "Success", "AccessKeyId": id, "SecretAccessKey": SECRET, "Token": TOKEN, "Expiration": ends.to_string(),
            });
            ("200 OK", body.to_string())
        } else {
            ("404 Not Found", String::new())
        };
        let length = body.len();
        write!(reader.get_mut(), "HTTP/1.1 {status}\r\nContent-Length: {length}\r\n\r\n{body}")?;
    }
}

/// STS, which lends for a token and a role.
pub(crate) fn security_token_service(token: &'static str, role: &'static str) -> (FakeServer, Arc<Lender>) {
    let lender = Lender::new();
    let shared = Arc::clone(&lender);
    let server = FakeServer::start(move |seen, tls| {
        let body = String::from_utf8_lossy(&seen.body).into_owned();
        let url = fetch::Url::parse(&format!("https://sts/?{body}")).unwrap();
        let field = |name: &str| url.query_pairs().find(|(own, _)| own == name).map(|(_, value)| value.into_owned());
        let is_good = field("Action").as_deref() == Some("AssumeRoleWithWebIdentity")
            && field("Version").as_deref() == Some("2011-06-15")
            && field("RoleArn").as_deref() == Some(role)
            && field("RoleSessionName").is_some_and(|name| name.len() >= 2);
        if !is_good || field("WebIdentityToken").as_deref() != Some(token) {
            let text =
                "<ErrorResponse><Error><Code>InvalidIdentityToken</Code><Message>no</Message></Error></ErrorResponse>";
            return answer(tls, "400 Bad Request", "Content-Type: text/xml\r\n", text);
        }
        let (id, ends) = shared.lend();
        let text = format!(
            "<AssumeRoleWithWebIdentityResponse><AssumeRoleWithWebIdentityResult><Credentials><AccessKeyId>{id}</AccessKeyId>\
            <SecretAccessKey>{SECRET}</SecretAccessKey><SessionToken>{TOKEN}</SessionToken><Expiration>{ends}</Expiration>\
            </Credentials></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>"
        );
        answer(tls, "200 OK", "Content-Type: text/xml\r\n", &text)
    });
    (server, lender)
}
