package io.kamille.launcher.acme;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import io.kamille.core.Await;
import io.kamille.core.tls.Certificates;
import io.kamille.launcher.appliance.TrustingAll;
import java.io.IOException;
import java.math.BigInteger;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.Base64;
import java.util.Date;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;
import javax.net.ssl.SNIHostName;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import org.bouncycastle.asn1.ASN1OctetString;
import org.bouncycastle.asn1.x500.X500Name;
import org.bouncycastle.asn1.x509.Extension;
import org.bouncycastle.asn1.x509.GeneralName;
import org.bouncycastle.asn1.x509.GeneralNames;
import org.bouncycastle.cert.X509v3CertificateBuilder;
import org.bouncycastle.cert.jcajce.JcaX509CertificateConverter;
import org.bouncycastle.cert.jcajce.JcaX509ExtensionUtils;
import org.bouncycastle.operator.OperatorCreationException;
import org.bouncycastle.operator.jcajce.JcaContentSignerBuilder;
import org.bouncycastle.pkcs.PKCS10CertificationRequest;
import org.jose4j.jwk.JsonWebKey;
import org.jose4j.jws.JsonWebSignature;
import org.jose4j.keys.HmacKey;
import org.jose4j.lang.JoseException;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * An authority on loopback (RFC 8555) that issues what it is asked for, one name in an order, and
 * misbehaves as it is told. Any thread.
 */
public final class StubAuthority implements AutoCloseable {

  /** Asks for a proof, as authorities do. */
  public interface Validation {
    boolean proves(String type, String name, String token, String authorization) throws Exception;
  }

  /** What it answers. */
  @SuppressWarnings("ArrayRecordComponent") // octets that are written as they are
  public record Answer(int status, String type, byte[] content, Map<String, String> fields) {

    public static Answer of(int status, String type, String content) {
      return new Answer(status, type, content.getBytes(UTF_8), Map.of());
    }

    static Answer json(String content) {
      return of(200, "application/json", content);
    }

    public static Answer problem(int status, String kind, String detail) {
      return of(status, "application/problem+json", problem(kind, detail, ""));
    }

    static String problem(String kind, String detail, String more) {
      String type = "urn:ietf:params:acme:error:" + kind;
      return String.format(
          Locale.ROOT, "{\"type\":\"%s\",\"detail\":\"%s\"%s}", type, detail, more);
    }

    Answer with(String name, String value) {
      Map<String, String> all = new LinkedHashMap<>(fields);
      all.put(name, value);
      return new Answer(status, type, content, all);
    }
  }

  private record Trick(String path, Answer answer, boolean isOnce) {}

  /** An order: its identifier is its only authorization. */
  private static final class Ordered {
    final int number;
    final JsonNode asked;
    final String name;
    final String token;
    volatile String authorization = "pending";
    volatile String type = "";
    volatile String error = "";
    volatile String chain = "";

    Ordered(int number, JsonNode asked) {
      this.number = number;
      this.asked = asked;
      this.name = asked.path("identifiers").path(0).path("value").stringValue("");
      this.token = "token-" + number + "-of-the-stub";
    }
  }

  /** What a client has signed. */
  private record Signed(JsonNode head, JsonNode content, JsonWebKey key) {}

  private static final JsonMapper JSON = JsonMapper.builder().build();
  private static final List<String> TYPES = List.of("http-01", "tls-alpn-01", "dns-01");

  private final Certificates own = new Certificates("the stub's own");
  private final KeyPair keys = Certificates.ec();
  private final HttpsServer server;
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private final AtomicLong numbers = new AtomicLong();
  private final Set<String> nonces = ConcurrentHashMap.newKeySet();
  private final Map<String, JsonWebKey> accounts = new ConcurrentHashMap<>();
  private final List<Ordered> orders = new CopyOnWriteArrayList<>();
  private final List<String> requests = new CopyOnWriteArrayList<>();
  private final List<Trick> tricks = new CopyOnWriteArrayList<>();
  private final List<String> proved = new CopyOnWriteArrayList<>();

  /** How each look at an authorization is put off, as Retry-After says it, one after the other. */
  final Queue<String> waits = new ConcurrentLinkedQueue<>();

  final AtomicLong refusedNonces = new AtomicLong();
  volatile boolean refusesNonces;
  volatile Duration lifetime = Duration.ofDays(90);

  /** What it suggests for every certificate; null if it does not know RFC 9773. */
  volatile @Nullable Answer suggestion;

  /** A key identifier and its key that accounts need; null if they need none. */
  volatile Map.@Nullable Entry<String, byte[]> binding;

  /** Knows all names already: no proof is asked for. */
  private volatile boolean knowsNames;

  private volatile @Nullable String otherName;
  private volatile @Nullable CountDownLatch gate;
  private volatile Validation validation = (_, _, _, _) -> false;

  public StubAuthority() throws IOException, GeneralSecurityException {
    server = HttpsServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.setHttpsConfigurator(
        new HttpsConfigurator(Certificates.server(own.ecdsa("localhost", "127.0.0.1"))));
    server.setExecutor(threads);
    server.createContext("/", this::serve);
    server.start();
  }

  public URI directory() {
    return URI.create(url("/directory"));
  }

  String url(String path) {
    return "https://127.0.0.1:" + server.getAddress().getPort() + path;
  }

  /** Writes what its clients trust. */
  public Path authority(Path file) throws IOException, GeneralSecurityException {
    return Files.writeString(file, own.pem());
  }

  /** Asks for a proof of each name, in this way. */
  public StubAuthority validatingBy(Validation way) {
    knowsNames = false;
    validation = way;
    return this;
  }

  public StubAuthority knowingAllNames() {
    knowsNames = true;
    return this;
  }

  /** Has the next request for paths that begin so answered like this. */
  public void once(String path, Answer answer) {
    tricks.add(new Trick(path, answer, true));
  }

  /** Has all of them answered like this. */
  public void always(String path, Answer answer) {
    tricks.add(new Trick(path, answer, false));
  }

  public void behave() {
    tricks.clear();
    otherName = null;
  }

  /** Issues for another name than was asked for; null for the right one. */
  public void issuingFor(String name) {
    otherName = name;
  }

  /** Answers nothing until that opens. */
  public void holding(CountDownLatch until) {
    gate = until;
  }

  /** How many requests came for paths that begin so. */
  public long requests(String path) {
    return requests.stream().filter(each -> each.startsWith(path)).count();
  }

  /** What was asked for in each order for that name. */
  public List<JsonNode> orders(String name) {
    return orders.stream().filter(each -> each.name.equals(name)).map(each -> each.asked).toList();
  }

  /** Each proof that was good: its type and the name. */
  public List<String> proved() {
    return proved;
  }

  int accounts() {
    return accounts.size();
  }

  private void serve(HttpExchange http) throws IOException {
    try (http) {
      String path = http.getRequestURI().getPath();
      requests.add(path);
      CountDownLatch closed = gate;
      if (closed != null) {
        Await.opened(closed);
      }
      byte[] content = http.getRequestBody().readAllBytes();
      Answer answer = trick(path);
      if (answer == null) {
        answer = answerOrFail(path, content);
      }
      String nonce = "nonce-" + numbers.incrementAndGet();
      nonces.add(nonce);
      if (!path.equals("/directory")) {
        http.getResponseHeaders().add("Replay-Nonce", nonce);
      }
      http.getResponseHeaders().add("Content-Type", answer.type);
      answer.fields.forEach(http.getResponseHeaders()::add);
      boolean isHead = http.getRequestMethod().equals("HEAD");
      http.sendResponseHeaders(answer.status, isHead ? -1 : answer.content.length);
      if (!isHead) {
        http.getResponseBody().write(answer.content);
      }
    }
  }

  /** A fault of the stub is told: else a test would look for its own. */
  private Answer answerOrFail(String path, byte[] content) {
    try {
      return answer(path, content);
    } catch (Exception failed) {
      return Answer.problem(500, "serverInternal", failed.toString().replace('"', '\''));
    }
  }

  private @Nullable Answer trick(String path) {
    Trick played =
        tricks.stream().filter(each -> path.startsWith(each.path)).findFirst().orElse(null);
    if (played != null && played.isOnce) {
      tricks.remove(played);
    }
    return played == null ? null : played.answer;
  }

  private Answer answer(String path, byte[] content)
      throws IOException, GeneralSecurityException, OperatorCreationException, JoseException {
    Answer suggested = suggestion;
    if (path.equals("/directory")) {
      return Answer.json(
          String.format(
              Locale.ROOT,
              "{\"newNonce\":\"%s\",\"newAccount\":\"%s\",\"newOrder\":\"%s\"%s,\"meta\":{}}",
              url("/nonce"),
              url("/account"),
              url("/order"),
              suggested == null ? "" : ",\"renewalInfo\":\"" + url("/suggestion") + "\""));
    } else if (path.equals("/nonce")) {
      return Answer.json("{}");
    } else if (path.startsWith("/suggestion/") && suggested != null) {
      return suggested;
    }
    JsonNode flat = JSON.readTree(content);
    JsonNode head = JSON.readTree(decoded(flat.path("protected")));
    boolean isUnknown = !nonces.remove(head.path("nonce").stringValue(""));
    if (isUnknown || (refusesNonces && numbers.get() % 2 == 0)) {
      refusedNonces.incrementAndGet();
      return Answer.problem(400, "badNonce", "come again");
    }
    JsonWebKey key =
        head.has("jwk")
            ? JsonWebKey.Factory.newJwk(head.get("jwk").toString())
            : accounts.get(head.path("kid").stringValue(""));
    if (key == null || !isSigned(flat, key.getKey()) || !url(path).equals(text(head, "url"))) {
      return Answer.problem(400, "malformed", "not signed by an account for this URL");
    }
    byte[] payload = decoded(flat.path("payload"));
    JsonNode said = payload.length == 0 ? JSON.createObjectNode() : JSON.readTree(payload);
    return answer(path, new Signed(head, said, key));
  }

  private Answer answer(String path, Signed signed)
      throws IOException, GeneralSecurityException, OperatorCreationException, JoseException {
    String[] parts = path.split("/", -1);
    if (parts[1].equals("account")) {
      return account(signed);
    } else if (parts.length == 2) {
      Ordered order = new Ordered(orders.size(), signed.content);
      order.authorization = knowsNames ? "valid" : "pending";
      orders.add(order);
      return status(201, order(order)).with("Location", url("/order/" + order.number));
    }
    Ordered order = orders.get(Integer.parseInt(parts[2]));
    switch (parts[1]) {
      case "authorization" -> {
        String wait = waits.poll();
        return wait == null
            ? Answer.json(authorization(order, order.authorization))
            : Answer.json(authorization(order, "pending")).with("Retry-After", wait);
      }
      case "challenge" -> {
        order.type = parts[3];
        validate(order, signed.key);
        return Answer.json(challenge(order, order.type, "processing"));
      }
      case "finalize" -> order.chain = issue(order, decoded(signed.content.path("csr")));
      case "certificate" -> {
        return Answer.of(200, "application/pem-certificate-chain", order.chain);
      }
      default -> {}
    }
    return Answer.json(order(order));
  }

  private Answer account(Signed signed) throws JoseException {
    Map.Entry<String, byte[]> wanted = binding;
    JsonNode bound = signed.content.path("externalAccountBinding");
    if (wanted != null) {
      if (bound.isMissingNode()) {
        return Answer.problem(403, "externalAccountRequired", "only for customers");
      }
      JsonNode head = JSON.readTree(decoded(bound.path("protected")));
      if (!text(head, "kid").equals(wanted.getKey())
          || !isSigned(bound, new HmacKey(wanted.getValue()))) {
        return Answer.problem(401, "unauthorized", "no such customer");
      }
    }
    String print = signed.key.calculateBase64urlEncodedThumbprint("SHA-256");
    String url = url("/account/" + print);
    boolean isNew = accounts.put(url, signed.key) == null;
    return status(isNew ? 201 : 200, "{\"status\":\"valid\"}").with("Location", url);
  }

  private static Answer status(int status, String json) {
    return Answer.of(status, "application/json", json);
  }

  private void validate(Ordered order, JsonWebKey key) {
    String name = domain(order);
    String expected = order.token + "." + key.calculateBase64urlEncodedThumbprint("SHA-256");
    try {
      boolean isGood = validation.proves(order.type, name, order.token, expected);
      order.authorization = isGood ? "valid" : "invalid";
      if (isGood) {
        proved.add(order.type + " " + name);
      } else {
        order.error =
            Answer.problem(
                "unauthorized",
                "it is not there",
                ",\"subproblems\":[" + Answer.problem("dns", "seen from elsewhere", "") + "]");
      }
    } catch (Exception failed) {
      order.authorization = "invalid";
      order.error = Answer.problem("connection", failed.toString().replace('"', '\''), "");
    }
  }

  private static String domain(Ordered order) {
    return order.name.startsWith("*.") ? order.name.substring(2) : order.name;
  }

  private String order(Ordered order) {
    String status =
        switch (order.authorization) {
          case "valid" -> order.chain.isEmpty() ? "ready" : "valid";
          default -> order.authorization;
        };
    return String.format(
        Locale.ROOT,
        "{\"status\":\"%s\",\"identifiers\":%s,\"authorizations\":[\"%s\"],\"finalize\":\"%s\"%s}",
        status,
        order.asked.path("identifiers"),
        url("/authorization/" + order.number),
        url("/finalize/" + order.number),
        order.chain.isEmpty()
            ? ""
            : ",\"certificate\":\"" + url("/certificate/" + order.number) + "\"");
  }

  private String authorization(Ordered order, String status) {
    JsonNode identifier = order.asked.path("identifiers").path(0);
    boolean isWildcard = order.name.startsWith("*.");
    List<String> challenges =
        (isWildcard ? List.of("dns-01") : TYPES)
            .stream().map(type -> challenge(order, type, status)).toList();
    return String.format(
        Locale.ROOT,
        "{\"status\":\"%s\",\"identifier\":{\"type\":\"%s\",\"value\":\"%s\"},\"challenges\":%s%s}",
        status,
        text(identifier, "type"),
        domain(order),
        challenges,
        isWildcard ? ",\"wildcard\":true" : "");
  }

  private String challenge(Ordered order, String type, String status) {
    boolean isFailed = type.equals(order.type) && !order.error.isEmpty();
    return String.format(
        Locale.ROOT,
        "{\"type\":\"%s\",\"url\":\"%s\",\"status\":\"%s\",\"token\":\"%s\"%s}",
        type,
        url("/challenge/" + order.number + "/" + type),
        status,
        order.token,
        isFailed && !status.equals("processing") ? ",\"error\":" + order.error : "");
  }

  private String issue(Ordered order, byte[] request)
      throws IOException, GeneralSecurityException, OperatorCreationException {
    var asked = new PKCS10CertificationRequest(request);
    Instant now = Instant.now();
    var builder =
        new X509v3CertificateBuilder(
            new X500Name("CN=Stub Issuer"),
            BigInteger.valueOf(1_000 + order.number),
            Date.from(now.minusSeconds(60)),
            Date.from(now.minusSeconds(60).plus(lifetime)),
            asked.getSubject(),
            asked.getSubjectPublicKeyInfo());
    String other = otherName;
    builder.addExtension(
        Extension.subjectAlternativeName,
        true, // as the subject is empty (RFC 5280 §4.2.1.6)
        other == null
            ? asked
                .getRequestedExtensions()
                .getExtensionParsedValue(Extension.subjectAlternativeName)
            : new GeneralNames(new GeneralName(GeneralName.dNSName, other)));
    builder.addExtension(
        Extension.authorityKeyIdentifier,
        false,
        new JcaX509ExtensionUtils().createAuthorityKeyIdentifier(keys.getPublic()));
    X509Certificate issued =
        new JcaX509CertificateConverter()
            .getCertificate(
                builder.build(
                    new JcaContentSignerBuilder("SHA256withECDSA").build(keys.getPrivate())));
    String octets =
        Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(issued.getEncoded());
    return "-----BEGIN CERTIFICATE-----\n" + octets + "\n-----END CERTIFICATE-----\n";
  }

  private static byte[] decoded(JsonNode text) {
    return Base64.getUrlDecoder().decode(text.stringValue(""));
  }

  private static String text(JsonNode node, String name) {
    return node.path(name).stringValue("");
  }

  private static boolean isSigned(JsonNode flat, java.security.Key key) throws JoseException {
    JsonWebSignature signature = new JsonWebSignature();
    signature.setCompactSerialization(
        text(flat, "protected") + "." + text(flat, "payload") + "." + text(flat, "signature"));
    signature.setKey(key);
    return signature.verifySignature();
  }

  /** Asks there, whatever the name: by HTTP, or by TLS with the name in the ClientHello. */
  public static boolean asks(
      InetSocketAddress server, String type, String name, String token, String authorization)
      throws Exception {
    if (type.equals("http-01")) {
      try (Socket socket = new Socket(server.getAddress(), server.getPort())) {
        String target = "/.well-known/acme-challenge/" + token;
        String head =
            "GET " + target + " HTTP/1.1\r\nHost: " + name + "\r\nConnection: close\r\n\r\n";
        socket.getOutputStream().write(head.getBytes(US_ASCII));
        String answer = new String(socket.getInputStream().readAllBytes(), US_ASCII);
        return answer.startsWith("HTTP/1.1 200 ") && answer.endsWith("\r\n\r\n" + authorization);
      }
    }
    try (var socket = (SSLSocket) TrustingAll.context().getSocketFactory().createSocket()) {
      SSLParameters parameters = socket.getSSLParameters();
      parameters.setServerNames(List.of(new SNIHostName(name)));
      parameters.setApplicationProtocols(new String[] {"acme-tls/1"});
      socket.setSSLParameters(parameters);
      socket.connect(server);
      socket.startHandshake();
      var shown = (X509Certificate) socket.getSession().getPeerCertificates()[0];
      byte[] proof = shown.getExtensionValue("1.3.6.1.5.5.7.1.31");
      byte[] hash =
          ASN1OctetString.getInstance(ASN1OctetString.getInstance(proof).getOctets()).getOctets();
      return socket.getApplicationProtocol().equals("acme-tls/1")
          && Arrays.equals(hash, Proof.sha256(authorization));
    }
  }

  @Override
  public void close() {
    CountDownLatch closed = gate;
    if (closed != null) {
      closed.countDown();
    }
    threads.shutdownNow(); // First: a stop waits for what is being written.
    server.stop(0);
  }
}
