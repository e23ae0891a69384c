//! Encrypted calls, and endpoints that nobody vouches for. Certificate and key are for this test alone; they were made by
//! `openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 36500 -subj "/CN=a test of necrodome"
//! -addext "subjectAltName=IP:127.0.0.1" -addext "basicConstraints=critical,CA:FALSE" -keyout key.pem -out certificate.pem`.

use super::{Set, in_process, question};
use necrodome_models::testing::{Act, Answer, Server};
use rustls::{
    ServerConfig, ServerConnection, StreamOwned,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
};
use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{Arc, mpsc},
    thread,
};

const CERTIFICATE: &str = include_str!("certificate.pem");
const KEY: &str = include_str!("key.pem");
const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/tls/certificate.pem");

/// Puts TLS before an endpoint. Reports for each connection whether anything was sent on it.
fn encrypted(endpoint: &Server) -> (SocketAddr, mpsc::Receiver<bool>) {
    let certificate = CertificateDer::from_pem_slice(CERTIFICATE.as_bytes()).unwrap();
    let key = PrivateKeyDer::from_pem_slice(KEY.as_bytes()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let config = Arc::new(config.with_no_client_auth().with_single_cert(vec![certificate], key).unwrap());
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let plain = endpoint.base_url().trim_start_matches("http://").trim_end_matches("/v1").to_owned();
    let (tell, told) = mpsc::channel();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let connection = ServerConnection::new(config.clone()).unwrap();
            let mut stream = StreamOwned::new(connection, stream);
            let heard = forward(&mut stream, &plain).is_ok();
            if tell.send(heard).is_err() {
                return;
            }
        }
    });
    (address, told)
}

fn forward(stream: &mut (impl Read + Write), plain: &str) -> std::io::Result<()> {
    let (mut request, mut part) = (Vec::new(), [0; 4096]);
    // The body is an object of JSON, and ends like one.
    while !request.ends_with(b"}") {
        let read = stream.read(&mut part)?;
        request.extend(&part[..read]);
        if read == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
    }
    let mut endpoint = TcpStream::connect(plain)?;
    endpoint.write_all(&request)?;
    let mut response = Vec::new();
    endpoint.read_to_end(&mut response)?;
    stream.write_all(&response)
}

fn table(address: SocketAddr) -> String {
    format!(
        "[models.m]\nbase_url = \"https://{address}/v1\"\nmodel = \"tiny\"\nkey_env = \"NECRODOME_TEST_KEY\"\n"
    )
}

#[test]
fn calls_are_encrypted() {
    let variables = [("SSL_CERT_FILE", FILE), ("NECRODOME_TEST_KEY", "sk-for-tls-only")];
    in_process("tls::calls_are_encrypted", &variables, || {
        let server = Server::scripted([Act::Answer(Answer { text: "Hello".into(), ..Answer::default() })]);
        let (address, heard) = encrypted(&server);
        let desk = Set::default().desk(&table(address));
        let reply = desk.ask(&desk.model("m").unwrap(), &question("?")).unwrap();
        assert_eq!((reply.text.as_str(), heard.recv()), ("Hello", Ok(true)));
        assert_eq!(server.asked()[0].key(), "sk-for-tls-only");
        assert!(desk.take_notes().is_empty());
    });
}

#[test]
fn an_endpoint_that_nobody_vouches_for_hears_nothing() {
    let variables = [("SSL_CERT_FILE", ""), ("NECRODOME_TEST_KEY", "sk-for-tls-only")];
    in_process("tls::an_endpoint_that_nobody_vouches_for_hears_nothing", &variables, || {
        let server = Server::scripted([Act::say("Hello")]);
        let (address, heard) = encrypted(&server);
        let desk = Set::default().desk(&table(address));
        let why = desk.ask(&desk.model("m").unwrap(), &question("?")).unwrap_err().to_string();
        assert!(why.contains("failed: invalid peer certificate"), "{why}");
        assert_eq!(heard.recv(), Ok(false));
        assert!(heard.try_recv().is_err(), "one try is enough");
        assert_eq!(desk.spent()["m"].lost.calls, 0);
    });
}

#[test]
fn a_file_without_certificates_is_told() {
    let variables = [("SSL_CERT_FILE", concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"))];
    in_process("tls::a_file_without_certificates_is_told", &variables, || {
        let server = Server::scripted([Act::say("Hello")]);
        let (desk, model) = super::desk(&server, "", Set::default());
        let why = desk.ask(&model, &question("?")).unwrap_err().to_string();
        assert!(why.contains("SSL_CERT_FILE names") && why.ends_with("got none"), "{why}");
    });
}
