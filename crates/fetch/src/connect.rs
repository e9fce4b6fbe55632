//! From a URL to a connection: names, addresses that may be reached, the proxy, TLS.
use crate::client::Progress;
use crate::connection::Sender;
use crate::proxy::{Via, literal};
use crate::{Error, ProxyFault, Reach, Result, Stage, shown, tls};
use hyper::client::conn::http1;
use hyper::header::{HOST, PROXY_AUTHORIZATION};
use hyper_util::rt::TokioIo;
use rustls::ClientConfig;
use rustls_pki_types::ServerName;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, BufReader};
use tokio::net::{TcpStream, lookup_host};
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use url::Url;

/// Bytes of an answer's head.
pub(crate) const HEAD: usize = 64 * 1024;

/// How much is taken from the wire at once: TLS by itself asks the system for 4 KiB each time.
const WIRE: usize = 64 * 1024;

/// Where to and how.
pub(crate) struct Dial<'a> {
    pub(crate) url: &'a Url,
    pub(crate) via: Option<&'a Via>,
    pub(crate) reach: Reach,
    /// For one connection to one address.
    pub(crate) limit: Duration,
    /// For the whole request.
    pub(crate) total: Duration,
    pub(crate) config: Arc<ClientConfig>,
    /// The name that the certificate must have, if it is not the URL's host.
    pub(crate) server_name: Option<&'a str>,
}

/// A stream of bytes, before or after TLS.
trait Stream: AsyncRead + AsyncWrite + Unpin + Send {}
impl<T: AsyncRead + AsyncWrite + Unpin + Send> Stream for T {}

impl Dial<'_> {
    /// A connection that requests can be sent over.
    pub(crate) async fn connect(&self, progress: &Progress) -> Result<Sender> {
        // Only a request to a metadata service has such a URL, which was checked to lead no further than the link.
        if self.url.scheme() == "http" {
            return self.over(self.directly(progress).await?).await;
        }
        let stream: Box<dyn Stream> = match self.via.filter(|via| via.serves(self.url)) {
            Some(via) => self.through(via, progress).await?,
            None => Box::new(self.directly(progress).await?),
        };
        progress.enter(Stage::Tls);
        let connector = TlsConnector::from(Arc::clone(&self.config));
        let handshake = connector.connect(self.name()?, BufReader::with_capacity(WIRE, stream));
        self.over(self.within(Stage::Tls, self.limit, handshake).await?.map_err(|error| tls::failure(self.url, error))?)
            .await
    }

    async fn over(&self, stream: impl Stream + 'static) -> Result<Sender> {
        let mut builder = http1::Builder::new();
        let (sender, connection) =
            builder.max_header_size(HEAD).handshake(TokioIo::new(stream)).await.map_err(|_| self.ended())?;
        // It ends with its sender; what goes wrong in it is told to who waits for the answer.
        tokio::spawn(async { drop(connection.await) });
        Ok(sender)
    }

    async fn directly(&self, progress: &Progress) -> Result<TcpStream> {
        progress.enter(Stage::Resolving);
        let addresses = self.addresses().await?;
        for address in &addresses {
            if let Some(what) = self.reach.forbids(address.ip()) {
                return Err(Error::Forbidden { url: shown(self.url), address: address.ip(), what });
            }
        }
        progress.enter(Stage::Connecting);
        self.to_first_of(addresses).await
    }

    /// Connects to the first address that answers. Each has its share of the time of the request, so that one that never
    /// answers leaves some to the next.
    async fn to_first_of(&self, addresses: Vec<SocketAddr>) -> Result<TcpStream> {
        let share = self.total / u32::try_from(addresses.len()).unwrap_or(u32::MAX).max(1);
        let limit = self.limit.min(share);
        let mut last = Err(Error::Unresolved { host: self.host(), source: io::ErrorKind::NotFound.into() });
        for address in addresses {
            last = match self.within(Stage::Connecting, limit, TcpStream::connect(address)).await {
                Ok(Ok(stream)) => return Ok(prompt(stream)),
                Ok(Err(error)) if error.kind() == io::ErrorKind::ConnectionRefused => Err(Error::Refused { address }),
                Ok(Err(source)) => Err(Error::Unreachable { address, source }),
                Err(late) => Err(late),
            };
        }
        last
    }

    async fn addresses(&self) -> Result<Vec<SocketAddr>> {
        let port = self.url.port_or_known_default().unwrap_or(443);
        if let Some(address) = literal(self.url) {
            return Ok(vec![SocketAddr::new(address, port)]);
        }
        let found = lookup_host((self.host(), port)).await;
        found.map(Iterator::collect).map_err(|source| Error::Unresolved { host: self.host(), source })
    }

    /// A tunnel to the URL's host. Its name is resolved by the proxy, so that only a written address can be judged.
    async fn through(&self, via: &Via, progress: &Progress) -> Result<Box<dyn Stream>> {
        let forbidden = literal(self.url).and_then(|address| Some((address, self.reach.forbids(address)?)));
        if let Some((address, what)) = forbidden {
            return Err(Error::Forbidden { url: shown(self.url), address, what });
        }
        progress.enter(Stage::Proxy);
        let tunnel = self.within(Stage::Proxy, self.limit, self.tunnel(via)).await?;
        tunnel.map_err(|fault| Error::Proxy { proxy: via.name(), fault })
    }

    async fn tunnel(&self, via: &Via) -> Result<Box<dyn Stream>, ProxyFault> {
        let addresses: Vec<_> =
            lookup_host((via.host.as_str(), via.port)).await.map_err(ProxyFault::Unresolved)?.collect();
        let stream = TcpStream::connect(addresses.as_slice()).await.map_err(ProxyFault::Unreachable)?;
        let malformed = |_| ProxyFault::Malformed;
        let mut builder = http1::Builder::new();
        let (mut sender, connection) = builder
            .max_header_size(HEAD)
            .handshake::<_, String>(TokioIo::new(prompt(stream)))
            .await
            .map_err(malformed)?;
        tokio::spawn(async { drop(connection.with_upgrades().await) });
        let answer = sender.send_request(self.ask(via)?).await.map_err(malformed)?;
        match answer.status().as_u16() {
            200..300 => {}
            407 => return Err(ProxyFault::Unauthorized),
            status => return Err(ProxyFault::Refused(status)),
        }
        let upgraded = hyper::upgrade::on(answer).await.map_err(malformed)?;
        Ok(Box::new(TokioIo::new(upgraded)))
    }

    fn ask(&self, via: &Via) -> Result<hyper::Request<String>, ProxyFault> {
        let target =
            format!("{}:{}", self.url.host_str().unwrap_or_default(), self.url.port_or_known_default().unwrap_or(443));
        let mut ask = hyper::Request::connect(&target).header(HOST, &target);
        if let Some(authorization) = &via.authorization {
            ask = ask.header(PROXY_AUTHORIZATION, authorization.expose());
        }
        ask.body(String::new()).map_err(|_| ProxyFault::Malformed)
    }

    /// The name that the certificate must have.
    fn name(&self) -> Result<ServerName<'static>> {
        let name = match (self.server_name, literal(self.url)) {
            (Some(name), _) => name.to_owned(),
            (None, Some(address)) => return Ok(ServerName::from(address)),
            (None, None) => self.host().trim_end_matches('.').to_owned(),
        };
        let reason = format!("{name:?} is not a name that a certificate can have");
        ServerName::try_from(name).map_err(|_| Error::BadUrl { reason })
    }

    async fn within<T>(&self, stage: Stage, limit: Duration, work: impl Future<Output = T>) -> Result<T> {
        let late = |_| Error::Timeout { url: shown(self.url), stage, limit };
        timeout(limit, work).await.map_err(late)
    }

    fn host(&self) -> String {
        self.url.host_str().unwrap_or_default().to_owned()
    }

    fn ended(&self) -> Error {
        Error::EndedEarly { url: shown(self.url) }
    }
}

/// Small requests should not wait for more to send.
fn prompt(stream: TcpStream) -> TcpStream {
    // Where it can't be set, things are slower and no worse.
    drop(stream.set_nodelay(true));
    stream
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Trust;
    use crate::tls::Tls;
    use tokio::net::{TcpListener, TcpSocket};

    const LIMIT: Duration = Duration::from_secs(6);

    /// A listener whose queue is full, so that it answers nobody, and who fills it.
    async fn silent() -> io::Result<(TcpListener, Vec<TcpStream>)> {
        let socket = TcpSocket::new_v4()?;
        socket.bind(SocketAddr::from(([127, 0, 0, 1], 0)))?;
        let (listener, mut queued) = (socket.listen(0)?, Vec::new());
        while let Ok(stream) = timeout(LIMIT / 10, TcpStream::connect(listener.local_addr()?)).await {
            queued.push(stream?);
        }
        Ok((listener, queued))
    }

    #[test]
    fn an_address_that_never_answers_leaves_time_for_the_next() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let (silent, _queued) = silent().await.unwrap();
            let good = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let (url, config) = (Url::parse("https://kms").unwrap(), Tls::new(&Trust::Unverified, None).unwrap().known);
            let (reach, via, server_name) = (Reach::ANYWHERE, None, None);
            let dial = Dial { url: &url, via, reach, limit: LIMIT, total: LIMIT, config, server_name };
            let wanted = good.local_addr().unwrap();
            let connecting = dial.to_first_of(vec![silent.local_addr().unwrap(), wanted]);
            let found = timeout(LIMIT, connecting).await.expect("the second has its turn").unwrap();
            assert_eq!(found.peer_addr().unwrap(), wanted);
        });
    }
}
