//! An endpoint on loopback that speaks the protocol, and misbehaves on command. For tests.

use serde_json::{Value, json};
use std::{
    io::{self, BufRead, BufReader, Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

/// A request, as it came.
#[derive(Debug, Clone)]
pub struct Asked {
    /// The path.
    pub path: String,
    /// All headers, their names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Value,
    /// The body as it came.
    pub text: String,
}

impl Asked {
    /// A header by its name in lower case, or an empty text.
    pub fn header(&self, name: &str) -> &str {
        self.headers.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value)
    }

    /// The key that was sent, or an empty text.
    pub fn key(&self) -> &str {
        self.header("authorization").trim_start_matches("Bearer ")
    }

    /// The text of the last message.
    pub fn last_message(&self) -> &str {
        let messages = self.body["messages"].as_array().map_or(&[][..], Vec::as_slice);
        messages.last().and_then(|message| message["content"].as_str()).unwrap_or_default()
    }

    /// Whether the model must call a tool.
    pub fn wants_tool(&self) -> bool {
        self.body["tool_choice"].is_object()
    }

    /// Whether the model must keep to a schema.
    pub fn wants_schema(&self) -> bool {
        self.body["response_format"]["type"] == "json_schema"
    }
}

/// A model's answer. It is sent as the arguments of a tool if the request demands a tool.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The text of the answer.
    pub text: String,
    /// The model's thoughts.
    pub reasoning: Option<String>,
    /// Why it stops.
    pub finish: String,
    /// Why it refuses.
    pub refusal: Option<String>,
    /// The name of the model that answers.
    pub model: String,
    /// The usage that it reports.
    pub usage: Value,
    /// Whether the body is sent without its length.
    pub chunked: bool,
}

impl Default for Answer {
    fn default() -> Self {
        Answer {
            text: String::new(),
            reasoning: None,
            finish: "stop".into(),
            refusal: None,
            model: "tiny-1".into(),
            usage: json!({"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}),
            chunked: false,
        }
    }
}

impl Answer {
    fn body(&self, asked: &Asked) -> Value {
        let mut message = json!({"role": "assistant", "content": self.text, "refusal": self.refusal});
        if asked.wants_tool() {
            let function =
                json!({"name": asked.body["tool_choice"]["function"]["name"], "arguments": self.text});
            message["content"] = Value::Null;
            message["tool_calls"] = json!([{"id": "call_1", "type": "function", "function": function}]);
        }
        if let Some(reasoning) = &self.reasoning {
            message["reasoning_content"] = json!(reasoning);
        }
        json!({
            "id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": self.model, "usage": self.usage,
            "choices": [{"index": 0, "message": message, "finish_reason": self.finish}],
        })
    }
}

/// The endpoint's reaction to a request.
#[derive(Debug, Clone)]
pub enum Act {
    /// Answers.
    Answer(Answer),
    /// Sends a status with headers and a body.
    Status(u16, Vec<(&'static str, String)>, String),
    /// Answers after so long a time without a single byte.
    Late(Duration, Answer),
    /// Says nothing until the client leaves.
    Silence,
    /// Ends the connection in the middle of an answer.
    Cut(Answer),
    /// Sends an answer that never ends.
    Endless,
}

impl Act {
    /// Makes a plain answer.
    pub fn say(text: impl Into<String>) -> Self {
        Act::Answer(Answer { text: text.into(), ..Answer::default() })
    }

    /// Makes a status with an error as endpoints write it.
    pub fn error(status: u16, message: &str) -> Self {
        Act::Status(status, Vec::new(), json!({"error": {"message": message}}).to_string())
    }

    /// Makes a "too many requests" with this `Retry-After`.
    pub fn too_many(retry_after: &str) -> Self {
        let headers = vec![("retry-after", retry_after.to_owned())];
        Act::Status(429, headers, json!({"error": {"message": "slow down"}}).to_string())
    }

    fn perform(&self, asked: &Asked, stream: &mut TcpStream) -> io::Result<()> {
        match self {
            Act::Answer(answer) => {
                let body = answer.body(asked).to_string();
                match answer.chunked {
                    false => send(stream, 200, &[], &body),
                    true => {
                        begin_chunked(stream)?;
                        for part in body.as_bytes().chunks(100) {
                            chunk(stream, part)?;
                        }
                        chunk(stream, b"")
                    }
                }
            }
            Act::Status(status, headers, body) => send(stream, *status, headers, body),
            Act::Late(pause, answer) => {
                stream.set_read_timeout(Some(*pause))?;
                match wait_for_end(stream) {
                    // The client has left.
                    Ok(()) => Ok(()),
                    Err(_) => send(stream, 200, &[], &answer.body(asked).to_string()),
                }
            }
            Act::Silence => wait_for_end(stream),
            Act::Cut(answer) => {
                let body = answer.body(asked).to_string();
                let half = &body.as_bytes()[..body.len() / 2];
                if answer.chunked {
                    begin_chunked(stream)?;
                    return chunk(stream, half);
                }
                write!(stream, "HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", body.len())?;
                stream.write_all(half)
            }
            Act::Endless => {
                begin_chunked(stream)?;
                loop {
                    chunk(stream, &[b' '; 1 << 16])?;
                }
            }
        }
    }
}

fn send(stream: &mut TcpStream, status: u16, headers: &[(&str, String)], body: &str) -> io::Result<()> {
    let headers: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    let length = body.len();
    write!(
        stream,
        "HTTP/1.1 {status} Status\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: {length}\r\n{headers}\r\n{body}"
    )
}

fn begin_chunked(stream: &mut TcpStream) -> io::Result<()> {
    stream.write_all(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n")
}

fn chunk(stream: &mut TcpStream, part: &[u8]) -> io::Result<()> {
    write!(stream, "{:x}\r\n", part.len())?;
    stream.write_all(part)?;
    stream.write_all(b"\r\n")
}

fn wait_for_end(stream: &mut TcpStream) -> io::Result<()> {
    while stream.read(&mut [0; 64])? > 0 {}
    Ok(())
}

type Mind = Arc<dyn Fn(&Asked) -> Act + Send + Sync>;

/// A running endpoint; it ends when it is dropped.
pub struct Server {
    address: SocketAddr,
    asked: Arc<Mutex<Vec<Asked>>>,
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// Starts an endpoint that does these acts one after the other, and then repeats the last one.
    pub fn scripted(acts: impl IntoIterator<Item = Act>) -> Self {
        let acts: Vec<Act> = acts.into_iter().collect();
        let next = Mutex::new(0);
        Self::minded(move |_| {
            let mut next = lock(&next);
            let act = acts[(*next).min(acts.len() - 1)].clone();
            *next += 1;
            act
        })
    }

    /// Starts an endpoint that reacts as `mind` says, to several requests at once.
    pub fn minded(mind: impl Fn(&Asked) -> Act + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port of this machine");
        let address = listener.local_addr().expect("the address of a listener");
        let (asked, is_over) = (Arc::new(Mutex::default()), Arc::new(AtomicBool::new(false)));
        let (mind, heard, over): (Mind, _, _) = (Arc::new(mind), asked.clone(), is_over.clone());
        let listen = move || {
            for stream in listener.incoming().flatten() {
                if over.load(Ordering::Relaxed) {
                    return;
                }
                let (mind, heard) = (mind.clone(), heard.clone());
                // What goes wrong here, the client has to notice.
                thread::spawn(move || serve(stream, &mind, &heard));
            }
        };
        Server { address, asked, is_over, thread: Some(thread::spawn(listen)) }
    }

    /// The value of `base_url`.
    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// Writes the table of a model at this endpoint, with more lines.
    pub fn table(&self, name: &str, lines: &str) -> String {
        format!("[models.{name}]\nbase_url = {:?}\nmodel = \"tiny\"\n{lines}\n", self.base_url())
    }

    /// All requests so far, in the order of their arrival.
    pub fn asked(&self) -> Vec<Asked> {
        lock(&self.asked).clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        let wakes = TcpStream::connect(self.address).is_ok();
        if let Some(thread) = self.thread.take().filter(|_| wakes) {
            let _ = thread.join();
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn serve(mut stream: TcpStream, mind: &Mind, heard: &Mutex<Vec<Asked>>) -> io::Result<()> {
    let asked = read(&stream)?;
    lock(heard).push(asked.clone());
    mind(&asked).perform(&asked, &mut stream)
}

fn read(stream: &TcpStream) -> io::Result<Asked> {
    let mut reader = BufReader::new(stream);
    let mut line = || -> io::Result<String> {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        Ok(line.trim_end().to_owned())
    };
    let path = line()?.split(' ').nth(1).unwrap_or_default().to_owned();
    let mut headers = Vec::new();
    loop {
        let line = line()?;
        let Some((name, value)) = line.split_once(':') else { break };
        headers.push((name.to_lowercase(), value.trim().to_owned()));
    }
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let mut body = vec![0; length.and_then(|(_, length)| length.parse().ok()).unwrap_or(0)];
    reader.read_exact(&mut body)?;
    let text = String::from_utf8_lossy(&body).into_owned();
    Ok(Asked { path, headers, body: serde_json::from_str(&text).unwrap_or_default(), text })
}
