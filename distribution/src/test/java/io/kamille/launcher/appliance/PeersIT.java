package io.kamille.launcher.appliance;

import static io.kamille.launcher.appliance.StubOrigin.head;
import static io.kamille.launcher.appliance.StubOrigin.message;
import static io.kamille.launcher.appliance.StubOrigin.ok;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kamille.cache.purge.PurgeTarget;
import io.kamille.cluster.peer.PeerNode;
import io.kamille.cluster.peer.Peers;
import io.kamille.core.Await;
import io.kamille.core.client.h1.TestClient;
import io.kamille.core.client.h1.TestClient.Answer;
import io.kamille.core.http.RequestHead;
import io.kamille.core.setting.HostPort;
import io.kamille.core.tls.Certificates;
import io.kamille.launcher.appliance.PeerNodes.Node;
import io.kamille.launcher.appliance.StubOrigin.Request;
import io.netty.handler.ssl.OpenSslSessionTicketKey;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Several nodes make one fetch: whom they ask, what they store, and what no purge lets pass. */
class PeersIT {

  private static final String MINUTE = "Cache-Control: max-age=60";

  @RegisterExtension private final PeerNodes cluster = new PeerNodes();

  private Node a() {
    return cluster.node("a");
  }

  private Node b() {
    return cluster.node("b");
  }

  private List<Request> asked(String path) {
    return cluster.origin().requests(path);
  }

  // Who is asked, and what is stored

  @Test
  void aMissComesFromItsOwnerAndTheSecondRequestOfAMinuteLeavesACopy() throws Exception {
    cluster.start(2, "");
    String path = cluster.ownedBy("b", "/p");
    cluster.origin().on(path, ok("hello", MINUTE, "Age: 20"));
    Answer miss = a().get(path);
    assertThat(miss.content()).isEqualTo("hello");
    assertThat(cacheStatus(miss))
        .matches(
            "kamille-b; fwd=uri-miss; stored; ttl=\\d+,"
                + " kamille-a; fwd=uri-miss; ttl=\\d+; detail=peer");
    assertThat(cacheStatus(a().get(path)))
        .matches(
            "kamille-b; hit; ttl=\\d+,"
                + " kamille-a; fwd=uri-miss; stored; ttl=\\d+; detail=peer");
    Answer copy = a().get(path);
    assertThat(cacheStatus(copy)).endsWith("kamille-a; hit; ttl=" + left(copy));
    assertThat(left(copy)).isBetween(30, 40);
    assertThat(copy.lines()).noneMatch(line -> line.startsWith("Kamille-"));
    assertThat(asked(path)).hasSize(1);
    assertThat(b().status(path)).contains("; hit");
  }

  private static String cacheStatus(Answer answer) {
    return PeerNodes.joined(answer, "Cache-Status");
  }

  private static int left(Answer answer) {
    return 60 - Integer.parseInt(String.valueOf(answer.field("Age")));
  }

  @Test
  void anOwnerAsksTheOriginItselfAndNobodyElse() throws Exception {
    cluster.start(2, "");
    String path = cluster.ownedBy("a", "/p");
    cluster.origin().on(path, ok("hello", MINUTE));
    assertThat(cacheStatus(a().get(path))).matches("kamille-a; fwd=uri-miss; stored; ttl=\\d+");
    assertThat(b().appliance.routes().cache().keys()).isZero();
  }

  @Test
  void copiesAreAllOrNone() throws Exception {
    cluster.start(2, ", copies: all");
    String path = cluster.ownedBy("b", "/p");
    cluster.origin().on(path, ok("hello", MINUTE));
    assertThat(a().status(path)).contains("; stored", "detail=peer");
    assertThat(a().status(path)).contains("; hit");
  }

  @Test
  void withoutCopiesEachRequestGoesToTheOwner() throws Exception {
    cluster.start(2, ", copies: none");
    String path = cluster.ownedBy("b", "/p");
    cluster.origin().on(path, ok("hello", MINUTE));
    for (int i = 0; i < 3; i++) {
      assertThat(a().status(path)).contains("fwd=uri-miss", "detail=peer").doesNotContain("stored");
    }
    assertThat(asked(path)).hasSize(1);
  }

  @Test
  void aPartAndAHeadComeFromTheOwnerThatHasTheWhole() throws Exception {
    cluster.start(2, "");
    String path = cluster.ownedBy("b", "/p");
    cluster.origin().on(path, ok("hello", MINUTE, "ETag: \"1\""));
    b().get(path);
    for (int i = 0; i < 3; i++) {
      Answer part = a().get(path, "Range: bytes=1-2");
      assertThat(part.status()).isEqualTo(206);
      assertThat(part.content()).isEqualTo("el");
      assertThat(cacheStatus(part)).contains("kamille-b; hit", "detail=peer");
    }
    String other = cluster.ownedBy("b", "/q");
    cluster.origin().on(other, ok("hello", MINUTE));
    b().get(other);
    try (TestClient client = a().client()) {
      Answer head = client.request("HEAD", other).answer("HEAD");
      assertThat(head.field("Content-Length")).isEqualTo("5");
      assertThat(cacheStatus(head)).contains("kamille-b; hit", "detail=peer");
    }
    assertThat(asked(path)).hasSize(1);
    assertThat(asked(other)).hasSize(1);
  }

  /** One of strangers, so that the owner says whether it was shown. */
  @Test
  void connectionsShowACertificateOnceItIsWritten() throws Exception {
    cluster.start(2, ", copies: none");
    String path = cluster.ownedBy("b", "/p");
    cluster.origin().on(path, ok("hello", MINUTE));
    assertThat(a().status(path)).contains("detail=peer");
    assertThat(a().peers().isRenewed()).isFalse();
    Path own = cluster.file("a.pem");
    Certificates.write(
        new Certificates("others").ecdsa("a"), Objects.requireNonNull(own.getParent()), "a");
    assertThat(a().peers().isRenewed()).isTrue();
    a().peers().nodes(cluster.nodes.stream().map(Node::member).toList());
    assertThat(a().peers().isRenewed()).isFalse();
    assertThat(a().status(path)).doesNotContain("detail=peer");
  }

  @Test
  void fiveHundredClientsOfThreeNodesMakeOneRequest() throws Exception {
    cluster.start(3, "");
    String path = cluster.ownedBy("c", "/p");
    String content = "slow but steady ".repeat(64);
    cluster.origin().on(path, visit -> visit.awaitTheWord().send(ok(content, MINUTE)));
    List<TestClient> clients = new ArrayList<>();
    for (int i = 0; i < 500; i++) {
      clients.add(cluster.nodes.get(i % 3).client().get(path));
    }
    cluster.origin().awaitRequests(path, 1);
    cluster.origin().giveTheWord();
    for (TestClient client : clients) {
      assertThat(client.answer().content()).isEqualTo(content);
      client.close();
    }
    assertThat(asked(path)).hasSize(1);
  }

  @Test
  void aRouteWithConditionsIsNeverThatOfARequestFromANode() throws Exception {
    cluster.with(
        "routes: [{upstream: site, cache: {query: {ignore: [own]}}},"
            + " {upstream: site, path-rewrite: /mine, match: {query: {own: absent}}}]");
    cluster.start(2, "");
    String path = cluster.ownedBy("b", "/p");
    cluster.origin().on(path, ok("plain", MINUTE)).on("/mine" + path, ok("mine", MINUTE));
    for (int i = 0; i < 2; i++) {
      assertThat(a().get(path + "?own=1").content()).isEqualTo("plain");
      assertThat(a().get(path).content()).isEqualTo("mine");
      assertThat(b().get(path).content()).isEqualTo("mine");
    }
    assertThat(asked(path)).hasSize(1);
    assertThat(asked("/mine" + path)).hasSize(2);
  }

  @Test
  void largeContentComesWholeAndIsReadAlong() throws Exception {
    cluster.with("cache: {memory: {capacity: 64MiB}, max-object-size: 16MiB}");
    cluster.start(3, ", copies: none");
    String path = cluster.ownedBy("c", "/p");
    String content = "0123456789abcdef".repeat(10 << 16);
    cluster.origin().on(path, ok(content, MINUTE));
    List<TestClient> clients = new ArrayList<>();
    for (int i = 0; i < 12; i++) {
      clients.add(cluster.nodes.get(i % 3).client().get(path));
    }
    for (TestClient client : clients) {
      assertThat(client.answer().content().equals(content)).isTrue();
      client.close();
    }
    assertThat(asked(path)).hasSize(1);
  }

  @Test
  void trailersOfANodeDoNotSayWhatNodesTellOneAnother() throws Exception {
    cluster.start(2, "");
    String path = cluster.ownedBy("b", "/p");
    cluster
        .origin()
        .on(
            path,
            head("200 OK", "Cache-Control: no-cache", "Transfer-Encoding: chunked")
                + "\r\n1\r\nx\r\n0\r\nKamille-Applied: 9\r\nKamille-Client: x\r\n"
                + "Kamille-Stale: 1\r\nX-Sum: 1\r\n\r\n");
    Answer answer = a().get(path, "TE: trailers");
    assertThat(cacheStatus(answer)).startsWith("kamille-b; ");
    assertThat(answer.trailers()).containsExactly("x-sum: 1");
  }

  @Test
  void aStaleCopyIsValidatedByItsOwner() throws Exception {
    cluster.start(2, ", copies: all");
    String path = cluster.ownedBy("b", "/p");
    cluster
        .origin()
        .on(
            path,
            visit -> {
              boolean isKnown = visit.request().field("If-None-Match") != null;
              String[] lines = {"Cache-Control: no-cache", "ETag: \"1\""};
              visit.send(isKnown ? message("304 Not Modified", "", lines) : ok("hello", lines));
            });
    assertThat(a().get(path).content()).isEqualTo("hello");
    assertThat(a().status(path)).contains("fwd=stale", "fwd-status=304");
    assertThat(asked(path)).hasSize(2);
  }

  // What the origin is told

  @Test
  void theOriginIsToldWhatItWouldBeToldByTheNodeThatTheClientCameTo() throws Exception {
    cluster.with("forwarding: {x-forwarded: append, forwarded: append}").start(2, "");
    String own = cluster.ownedBy("a", "/p");
    String others = cluster.ownedBy("b", "/p");
    cluster.origin().on(own, ok("x", MINUTE)).on(others, ok("x", MINUTE));
    String[] lines = {"X-Forwarded-For: 192.0.2.7", "Kamille-Applied: 999", "Cookie: s=1"};
    a().get(own, lines);
    a().get(others, lines);
    Request told = cluster.origin().request(others);
    for (String name : List.of("X-Forwarded-For", "X-Forwarded-Proto", "X-Forwarded-Host")) {
      assertThat(told.values(name)).isEqualTo(cluster.origin().request(own).values(name));
    }
    assertThat(told.values("X-Forwarded-For")).containsExactly("192.0.2.7, 127.0.0.1");
    assertThat(told.values("X-Forwarded-Proto")).containsExactly("http");
    assertThat(told.values("Forwarded"))
        .isEqualTo(cluster.origin().request(own).values("Forwarded"));
    assertThat(told.values("Host")).containsExactly("a");
    assertThat(told.values("Cookie")).containsExactly("s=1");
    assertThat(told.head()).doesNotContain("Kamille-", "Client-Cert");
  }

  @Test
  void theOriginIsToldOfTheProxyThatTheClientCameBy() throws Exception {
    cluster
        .with(
            "listeners: [{address: '127.0.0.1:0', trusted-proxies: {from: [127.0.0.1]}}]",
            "forwarding: {x-forwarded: append}")
        .start(2, "");
    String others = cluster.ownedBy("b", "/p");
    cluster.origin().on(others, ok("x", MINUTE));
    a().get(others, "X-Forwarded-For: 192.0.2.7");
    Request told = cluster.origin().request(others);
    assertThat(told.values("X-Forwarded-For")).containsExactly("192.0.2.7, 127.0.0.1");
    assertThat(told.head()).doesNotContain("Kamille-");
  }

  @Test
  void aClientThatPretendsToBeANodeIsAClient() throws Exception {
    cluster.with("routes: [{upstream: site, access: {deny: [127.0.0.1]}}]").start(2, "");
    assertThat(a().get("/x", "Kamille-Applied: 1", "Kamille-Client: http 192.0.2.1 80").status())
        .isEqualTo(403);
  }

  @Test
  void whatMayNotBeStoredGoesToTheOriginAtOnce() throws Exception {
    cluster.with("routes: [{upstream: site, cache: {bypass-cookies: [s]}}]").start(2, "");
    String path = cluster.ownedBy("b", "/p");
    cluster.origin().on(path, ok("x", MINUTE));
    assertThat(cacheStatus(a().get(path, "Authorization: Basic eA=="))).doesNotContain("kamille-b");
    assertThat(cacheStatus(a().get(path, "Cookie: s=1"))).doesNotContain("kamille-b");
    try (TestClient client = a().client()) {
      Answer posted = client.request("POST", path, "Content-Length: 0").answer();
      assertThat(cacheStatus(posted)).doesNotContain("kamille-b");
    }
    assertThat(asked(path)).hasSize(3);
  }

  // Trouble

  @Test
  void anErrorOfTheOriginIsPassedOn() throws Exception {
    cluster.start(3, "");
    String path = cluster.ownedBy("b", "/p");
    cluster.origin().on(path, message("503 Service Unavailable", "later", "Retry-After: 600"));
    for (int i = 0; i < 5; i++) {
      Answer answer = a().get(path);
      assertThat(answer.status()).isEqualTo(503);
      assertThat(answer.content()).isEqualTo("later");
      assertThat(cacheStatus(answer)).contains("kamille-b");
    }
    assertThat(asked(path)).hasSize(5);
  }

  @Test
  void anOriginThatIsAwayIsAskedByTheOwnerAlone() throws Exception {
    cluster.with("upstreams: {site: {origins: ['http://127.0.0.1:1']}}");
    cluster.start(3, "");
    String path = cluster.ownedBy("b", "/p");
    Answer answer = a().get(path);
    assertThat(answer.status()).isEqualTo(502);
    assertThat(cacheStatus(answer)).contains("kamille-b");
  }

  @Test
  void anOwnerThatIsGoneIsNotMissed() throws Exception {
    cluster.start(2, "");
    String path = cluster.ownedBy("b", "/p");
    cluster.origin().on(path, ok("hello", MINUTE));
    b().appliance.close();
    Answer answer = a().get(path);
    assertThat(answer.content()).isEqualTo("hello");
    assertThat(cacheStatus(answer)).matches("kamille-a; fwd=uri-miss; stored; ttl=\\d+");
    cluster.nodes.removeLast();
  }

  @Test
  void whoWaitsForANodeThatLeavesAsksAnother() throws Exception {
    cluster.start(2, "");
    String path = cluster.ownedBy("b", "/p");
    AtomicInteger visits = new AtomicInteger();
    cluster
        .origin()
        .on(
            path,
            visit -> {
              if (visits.getAndIncrement() == 0) {
                visit.awaitTheWord();
              }
              visit.send(ok("hello", MINUTE));
            });
    try (TestClient client = a().client().get(path)) {
      cluster.origin().awaitRequests(path, 1);
      a().peers().nodes(List.of(a().member()));
      assertThat(client.answer().content()).isEqualTo("hello");
    }
    cluster.origin().giveTheWord();
    assertThat(asked(path)).hasSize(2);
  }

  /** Waits until a node asks the other one: a first handshake takes its time. */
  private void connect() {
    AtomicInteger last = new AtomicInteger();
    Await.until(
        () ->
            cacheStatus(a().get(cluster.ownedBy("b", "/connect" + last.incrementAndGet() + "-")))
                .contains("kamille-b"),
        "it is asked");
  }

  /** Its kernel accepts what is sent, as after SIGSTOP. */
  @Test
  void whoDoesNotAnswerIsLeftAlone() throws Exception {
    cluster.waiting(Duration.ofMillis(500)).start(2, "");
    connect();
    CountDownLatch goesOn = new CountDownLatch(1);
    b().applied =
        () -> {
          Await.until(() -> goesOn.getCount() == 0, "the node goes on");
          return 0;
        };
    long began = System.nanoTime();
    for (int i = 0; i < 20; i++) {
      assertThat(cacheStatus(a().get(cluster.ownedBy("b", "/still" + i + "-"))))
          .doesNotContain("kamille-b");
    }
    assertThat(Duration.ofNanos(System.nanoTime() - began)).isLessThan(Duration.ofSeconds(10));
    goesOn.countDown();
    connect();
  }

  @Test
  void anOwnerWhoseOriginIsSlowSaysThatItIsThere() throws Exception {
    cluster.waiting(Duration.ofMillis(500)).start(2, "");
    connect();
    String slow = cluster.ownedBy("b", "/slow");
    cluster
        .origin()
        .on(
            slow,
            visit -> {
              LockSupport.parkNanos(Duration.ofMillis(1_200).toNanos());
              visit.send(ok("slow", MINUTE));
            });
    assertThat(a().status(slow)).contains("detail=peer");
    assertThat(asked(slow)).hasSize(1);
  }

  @Test
  void aNodeThatIsCutOffAsksNobody() throws Exception {
    cluster.start(2, "");
    String path = cluster.ownedBy("b", "/p");
    cluster.origin().on(path, ok("hello", MINUTE));
    a().isCurrent = false;
    assertThat(cacheStatus(a().get(path))).doesNotContain("kamille-b");
  }

  @Test
  void nodesThatTakeEachOtherForTheOwnerDoNotWaitForEachOther() throws Exception {
    cluster.start(2, "");
    String path = cluster.ownedBy("b", "/p");
    cluster.origin().on(path, ok("hello", MINUTE));
    // Of each, the other has left, as it sees itself.
    a().peers().nodes(List.of(b().member()));
    b().peers().nodes(List.of(a().member()));
    List<TestClient> clients = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      clients.add(cluster.nodes.get(i % 2).client().get(path));
    }
    for (TestClient client : clients) {
      assertThat(client.answer().content()).isEqualTo("hello");
      client.close();
    }
    assertThat(asked(path)).hasSizeLessThan(4);
  }

  /** Two nodes join at once, and each takes the other for the owner and for the former one. */
  @Test
  void aRequestOfANodeIsPassedOnToThatNodeAtTheMost() throws Exception {
    cluster.start(3, ", copies: none");
    String path = cluster.ownedBy("b", "/p");
    cluster.origin().on(path, ok("hello", MINUTE));
    PeerNode joining = cluster.node("c").member(System.nanoTime(), false);
    a().peers().nodes(List.of(b().member(), joining));
    b().peers().nodes(List.of(a().member(), joining));
    assertThat(a().get(path).content()).isEqualTo("hello");
    assertThat(asked(path)).hasSize(1);
    assertThat(counted("hit") + counted("miss") + counted("failed")).isEqualTo(1);
    List<TestClient> clients = new ArrayList<>();
    String both = cluster.ownedBy("b", "/q");
    cluster.origin().on(both, visit -> visit.awaitTheWord().send(ok("hello", MINUTE)));
    for (int i = 0; i < 20; i++) {
      clients.add(cluster.nodes.get(i % 2).client().get(both));
    }
    cluster.origin().awaitRequests(both, 1);
    cluster.origin().giveTheWord();
    for (TestClient client : clients) {
      assertThat(client.answer().content()).isEqualTo("hello");
      client.close();
    }
    assertThat(asked(both)).hasSizeLessThan(4);
  }

  /** As with an origin that is a load balancer before the nodes. */
  @Test
  void aRequestThatComesBackFromAnOriginEnds() throws Exception {
    cluster.with(
        "routes: [{upstream: site}, {path: /live, upstream: site, cache: {enabled: off}}]");
    cluster.start(2, "");
    for (String path : List.of(cluster.ownedBy("a", "/p"), cluster.ownedBy("b", "/p"), "/live")) {
      cluster.origin().on(path, ok("hello", MINUTE));
      assertThat(a().get(path, "CDN-Loop: other;x=kamille-shop").status()).isEqualTo(200);
      List<String> told = cluster.origin().request(path).values("CDN-Loop");
      assertThat(told).containsExactly("other;x=kamille-shop", "kamille-shop");
      for (Node node : cluster.nodes) {
        assertThat(node.get(path + "?2", "CDN-Loop: " + String.join(", ", told)).status())
            .isEqualTo(508);
      }
    }
  }

  @Test
  void requestsOfNodesAreCountedByHowTheyEnded() throws Exception {
    cluster.start(2, ", copies: none");
    String path = cluster.ownedBy("b", "/p");
    cluster.origin().on(path, ok("hello", MINUTE));
    for (int i = 0; i < 3; i++) {
      a().get(path);
    }
    assertThat(counted("miss")).isEqualTo(1);
    assertThat(counted("hit")).isEqualTo(2);
    assertThat(counted("failed")).isZero();
    b().appliance.close();
    a().get(path);
    assertThat(counted("failed")).isEqualTo(1);
    cluster.nodes.removeLast();
  }

  private double counted(String result) {
    return a().appliance.metrics().read().stream()
        .filter(family -> family.descriptor().name().equals("kamille_cluster_peer_requests_total"))
        .flatMap(family -> family.samples().stream())
        .filter(sample -> sample.labelValues().equals(List.of("b", result)))
        .findFirst()
        .orElseThrow()
        .value();
  }

  @Test
  void anExplanationNamesTheOwner() throws Exception {
    cluster.start(2, "");
    RequestHead request = RequestHead.of("GET", "http://a" + cluster.ownedBy("b", "/p"));
    assertThat(a().appliance.routes().explainer().explain(request, null).explanation().because())
        .last()
        .satisfies(
            step -> {
              assertThat(step.rule()).isEqualTo("owner");
              assertThat(step.found()).isEqualTo("owner b of 2, by its hash");
              assertThat(step.so()).isEqualTo("that node is asked before the origin");
            });
  }

  // Strangers

  @Test
  void whoShowsNoCertificateOfTheClusterIsNotServed() throws Exception {
    cluster.start(1, "");
    Certificates strangers = new Certificates("cluster");
    for (SSLContext stranger :
        List.of(
            TrustingAll.context(),
            TrustingAll.context(strangers.ecdsa("a")),
            TrustingAll.context(cluster.authority().expired("a")))) {
      assertThatThrownBy(() -> askAsNode(stranger, "TLSv1.3", "1")).isInstanceOf(IOException.class);
    }
    SSLContext node = TrustingAll.context(cluster.authority().ecdsa("b"));
    assertThatThrownBy(() -> askAsNode(node, "TLSv1.2", "1")).isInstanceOf(IOException.class);
    assertThat(cluster.origin().requests()).isEmpty();
    cluster.origin().on("/p", ok("hello", MINUTE));
    assertThat(askAsNode(node, "TLSv1.3", "0").headers().firstValue("Kamille-Applied"))
        .hasValue("0");
  }

  @Test
  void aNodeThatSaysNonsenseGetsNothing() throws Exception {
    cluster.start(1, "");
    SSLContext node = TrustingAll.context(cluster.authority().ecdsa("b"));
    for (String number : List.of("-1", "x", "9".repeat(19), "")) {
      assertThat(askAsNode(node, "TLSv1.3", number).statusCode()).isEqualTo(400);
    }
    try (TestClient clear = TestClient.connect(a().peerAddress())) {
      clear.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
      assertThat(clear.readUntil("\r\n\r\n")).startsWith("HTTP/1.1 400 ");
    }
    assertThat(cluster.origin().requests()).isEmpty();
  }

  private HttpResponse<String> askAsNode(SSLContext context, String protocol, String number)
      throws IOException, InterruptedException {
    SSLParameters parameters = context.getDefaultSSLParameters();
    parameters.setProtocols(new String[] {protocol});
    try (HttpClient client =
        HttpClient.newBuilder().sslContext(context).sslParameters(parameters).build()) {
      String address = a().peerAddress().getHostString() + ":" + a().peerAddress().getPort();
      HttpRequest request =
          HttpRequest.newBuilder(URI.create("https://" + address + "/p"))
              .header("Kamille-Applied", number)
              .header("Kamille-Client", "http 192.0.2.1 1")
              .build();
      return client.send(request, BodyHandlers.ofString());
    }
  }

  // Purges

  @Test
  void aNodeThatIsPurgedDoesNotGetTheOldFromAnOwnerThatIsNot() throws Exception {
    cluster.start(2, ", copies: all");
    String path = cluster.ownedBy("b", "/p");
    cluster.origin().on(path, ok("old", MINUTE));
    assertThat(a().get(path).content()).isEqualTo("old");
    cluster.origin().on(path, ok("new", MINUTE));
    a().purge(path, 1);
    Answer answer = a().get(path);
    assertThat(answer.content()).isEqualTo("new");
    assertThat(cacheStatus(answer)).contains("detail=behind").doesNotContain("hit");
    // The owner did not know of the purge when it answered, so nothing of it is stored.
    b().purge(path, 1);
    assertThat(a().status(path)).contains("fwd=uri-miss", "detail=peer");
    assertThat(a().get(path).content()).isEqualTo("new");
  }

  /** The owner serves it stale once, in whatever way it is asked. */
  @Test
  void whatIsPurgedSoftlyAtItsOwnerIsNotTakenForFresh() throws Exception {
    cluster.start(2, ", copies: all");
    for (String kind : List.of("GET", "copy", "HEAD", "Range")) {
      String path = cluster.ownedBy("b", "/" + kind);
      String[] lines = {"Cache-Control: max-age=3600", "ETag: \"1\""};
      cluster.origin().on(path, ok("old", lines));
      Node reader = kind.equals("copy") ? a() : b();
      assertThat(reader.get(path).content()).isEqualTo("old");
      lines[1] = "ETag: \"2\"";
      cluster.origin().on(path, ok("new", lines));
      for (Node node : cluster.nodes) {
        PurgeTarget url = Objects.requireNonNull(PurgeTarget.url("http://a" + path));
        node.appliance.routes().cache().purges().purge(1, url, true);
        node.applied = () -> 1;
        node.begun = () -> 1;
      }
      if (kind.equals("HEAD")) {
        try (TestClient client = a().client()) {
          client.request("HEAD", path).answer("HEAD");
        }
      } else if (kind.equals("Range")) {
        a().get(path, "Range: bytes=0-1");
      } else {
        a().get(path);
      }
      Await.until(() -> asked(path).size() == 2, "the owner has asked the origin");
      Await.until(() -> b().get(path).content().equals("new"), "the owner has the new one");
      Await.until(() -> a().get(path).content().equals("new"), "so has the other one");
      assertThat(a().status(path)).contains("; hit");
      assertThat(asked(path)).hasSize(2);
    }
  }

  @Test
  void anErrorOfTheOriginDoesNotMakeFreshWhatIsStaleAtItsOwner() throws Exception {
    cluster.start(2, ", copies: all");
    String path = cluster.ownedBy("b", "/p");
    cluster.origin().on(path, ok("old", "Cache-Control: max-age=3600, stale-if-error=3600"));
    assertThat(b().get(path).content()).isEqualTo("old");
    cluster.origin().on(path, message("503 Service Unavailable", "later"));
    PurgeTarget url = Objects.requireNonNull(PurgeTarget.url("http://a" + path));
    b().appliance.routes().cache().purges().purge(1, url, true);
    assertThat(a().get(path).content()).isEqualTo("old");
    assertThat(a().status(path)).doesNotContain("stored").doesNotContain("hit");
  }

  @Test
  void aFetchThatBeginsWhileAPurgeIsCarriedOutKeepsNothingOlder() throws Exception {
    cluster.start(2, ", copies: all");
    String path = cluster.ownedBy("b", "/p");
    cluster.origin().on(path, ok("old", MINUTE));
    assertThat(a().get(path).content()).isEqualTo("old");
    cluster.origin().on(path, ok("new", MINUTE));
    a().begun = () -> 1;
    a().appliance.routes().cache().purge("http://a" + path);
    assertThat(a().get(path).content()).isEqualTo("new");
    a().applied = () -> 1;
    b().purge(path, 1);
    assertThat(a().get(path).content()).isEqualTo("new");
  }

  @Test
  void anOwnerWaitsForThePurge() throws Exception {
    cluster.start(2, "");
    String path = cluster.ownedBy("b", "/p");
    cluster.origin().on(path, ok("old", MINUTE));
    a().get(path);
    cluster.origin().on(path, ok("new", MINUTE));
    a().purge(path, 1);
    AtomicInteger looks = new AtomicInteger();
    b().applied =
        () -> {
          if (looks.incrementAndGet() == 3) {
            b().purge(path, 1);
          }
          return looks.get() < 3 ? 0 : 1;
        };
    Answer answer = a().get(path);
    assertThat(answer.content()).isEqualTo("new");
    assertThat(cacheStatus(answer)).startsWith("kamille-b; fwd=uri-miss; stored");
    assertThat(b().status(path)).contains("; hit");
  }

  @Test
  void whatIsPurgedOnItsWayIsNotStored() throws Exception {
    cluster.start(2, ", copies: all");
    String path = cluster.ownedBy("b", "/p");
    cluster.origin().on(path, visit -> visit.awaitTheWord().send(ok("old", MINUTE)));
    try (TestClient client = a().client().get(path)) {
      cluster.origin().awaitRequests(path, 1);
      a().purge(path, 1);
      b().purge(path, 1);
      cluster.origin().giveTheWord();
      assertThat(client.answer().content()).isEqualTo("old");
    }
    cluster.origin().on(path, ok("new", MINUTE));
    assertThat(a().get(path).content()).isEqualTo("new");
    assertThat(b().get(path).content()).isEqualTo("new");
  }

  @Test
  void aPurgeByTagReachesCopiesWhoseTagsNobodyKnows() throws Exception {
    cluster.start(2, "");
    String path = cluster.ownedBy("b", "/p");
    cluster.origin().on(path, ok("old", MINUTE, "Cache-Tag: news"));
    a().get(path);
    Answer copied = a().get(path);
    assertThat(cacheStatus(copied)).contains("kamille-b; hit", "kamille-a; fwd=uri-miss; stored");
    assertThat(copied.field("Cache-Tag")).isNull();
    assertThat(a().status(path)).contains("; hit");
    a().appliance.routes().cache().purges().purge(PurgeTarget.tags(List.of("news")), false);
    assertThat(a().status(path)).contains("fwd=uri-miss");
  }

  @Test
  void aPurgeByTagReachesWhatWasForwarded() throws Exception {
    cluster.start(2, ", copies: all");
    String path = cluster.ownedBy("b", "/p");
    cluster.origin().on(path, ok("old", MINUTE, "Cache-Tag: news"));
    assertThat(a().get(path).field("Cache-Tag")).isNull();
    assertThat(a().status(path)).contains("; hit");
    a().appliance.routes().cache().purges().purge(PurgeTarget.tags(List.of("sport")), false);
    a().appliance.routes().cache().purges().purge(PurgeTarget.tags(List.of("news")), false);
    assertThat(a().status(path)).contains("fwd=uri-miss");
  }

  @Test
  void whoChangesSomethingDoesNotGetTheOldFromAnOwnerThatHasNotHeardOfIt() throws Exception {
    cluster.start(2, "");
    String path = cluster.ownedBy("b", "/p");
    String other = cluster.ownedBy("b", "/q");
    for (String each : List.of(path, other)) {
      cluster.origin().on(each, ok("old", MINUTE));
      a().get(each);
      cluster.origin().on(each, ok("new", MINUTE, "Location: " + other));
    }
    try (TestClient client = a().client()) {
      client.request("POST", path, "Content-Length: 0").answer();
    }
    assertThat(a().get(path).content()).isEqualTo("new");
    assertThat(a().get(other).content()).isEqualTo("new");
  }

  @Test
  void aNodeWhoseNameNoCertificateCanBeForIsRefused() throws Exception {
    cluster.start(1, "");
    PeerNode nameless = new PeerNode("b!", new HostPort("127.0.0.1", 1), 0, false);
    assertThatThrownBy(() -> a().peers().nodes(List.of(nameless)))
        .hasMessageStartingWith("cluster.node: b! (expected: a host name");
  }

  // What nodes make of their secret

  @Test
  void aStickyClientMayComeToAnyNode() throws Exception {
    String origins = "{origins: ['" + cluster.origin().url() + "'], sticky: {cookie: at}}";
    cluster
        .with(
            "upstreams: {site: " + origins + ", other: " + origins + "}",
            "routes: [{upstream: site}, {path: /other/, upstream: other}]")
        .start(2, "");
    cluster.origin().on("/", ok("x")).on("/other/", ok("x"));
    String line = String.valueOf(a().get("/").field("Set-Cookie"));
    String cookie = "Cookie: " + line.substring(0, line.indexOf(';'));
    assertThat(b().get("/", cookie).field("Set-Cookie")).isNull();
    assertThat(b().get("/").field("Set-Cookie")).isEqualTo(line);
    assertThat(b().get("/other/", cookie).field("Set-Cookie")).as("of an upstream").isNotNull();
  }

  @Test
  void clientsResumeTheirSessionsAtAnyNode() throws Exception {
    String tls = "tls: self-signed}";
    cluster.with("listeners: [{address: '127.0.0.1:0', " + tls + "]").start(2, "");
    var ofA = a().appliance.clientSide().tls().ticketKeys();
    b().appliance
        .clientSide()
        .tls()
        .ticketKeys()
        .forEach(
            (name, words) -> {
              int newest = words.indexOf(' ') + 1;
              String key =
                  words.substring(newest, newest + 2 * OpenSslSessionTicketKey.TICKET_KEY_SIZE);
              assertThat(String.valueOf(ofA.get(name)).contains(key))
                  .as(name)
                  .isEqualTo(!name.equals(TlsListeners.PEERS));
            });
    assertThat(ofA).hasSize(2);
  }

  // Nodes that come and go

  @Test
  void aNodeThatJoinsAsksTheFormerOwnerFirst() throws Exception {
    cluster.start(2, "");
    String path = cluster.ownedBy("b", "/p");
    cluster.origin().on(path, ok("hello", MINUTE));
    // What a node alone has stored, while the other was not there.
    a().peers().nodes(List.of(a().member()));
    a().get(path);
    // The other is almost warm.
    long almost = System.nanoTime() - Duration.ofSeconds(295).toNanos();
    cluster.know(List.of(a().member(), b().member(almost, false)));
    assertThat(PeerNodes.owner(b().peers(), path)).isEqualTo("b");
    assertThat(cacheStatus(b().get(path)))
        .matches(
            "kamille-a; hit; ttl=\\d+, kamille-b; fwd=uri-miss; stored; ttl=\\d+; detail=peer");
    assertThat(b().status(path)).contains("; hit");
    assertThat(a().peers().ownership(RequestHead.of("GET", "http://a" + path)))
        .isEqualTo(new Peers.Ownership("b", "a", "a"));
    String stays = cluster.ownedBy("a", "/r");
    assertThat(a().peers().ownership(RequestHead.of("GET", "http://a" + stays)))
        .as("nobody had it before")
        .isEqualTo(new Peers.Ownership("a", "b", null));
    String unknown = cluster.ownedBy("b", "/q");
    cluster.origin().on(unknown, ok("x", MINUTE));
    assertThat(cacheStatus(b().get(unknown))).matches("kamille-b; fwd=uri-miss; stored; ttl=\\d+");
    assertThat(asked(path)).hasSize(1);
    assertThat(asked(unknown)).hasSize(1);
  }

  @Test
  void aNodeThatDrainsOwnsNothingAndGivesWhatItHas() throws Exception {
    cluster.start(2, "");
    String path = cluster.ownedBy("b", "/p");
    cluster.origin().on(path, ok("hello", MINUTE));
    a().get(path);
    long longAgo = b().member().sinceNanos();
    cluster.know(List.of(a().member(), b().member(longAgo, true)));
    assertThat(PeerNodes.owner(a().peers(), path)).isEqualTo("a");
    assertThat(cacheStatus(a().get(path)))
        .matches(
            "kamille-b; hit; ttl=\\d+, kamille-a; fwd=uri-miss; stored; ttl=\\d+; detail=peer");
    assertThat(asked(path)).hasSize(1);
  }
}
