package io.kamille.core.origin.names;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kamille.core.origin.names.NameLookup.Answer;
import io.kamille.core.origin.names.NameLookup.Service;
import io.kamille.core.origin.names.NameLookup.Services;
import io.netty.channel.EventLoop;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.handler.codec.dns.DnsResponseCode;
import io.netty.resolver.HostsFileEntriesResolver;
import io.netty.resolver.dns.SingletonDnsServerAddressStreamProvider;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What names mean by a name server on loopback and a hosts file. */
class DnsLookupTest {

  private final MultiThreadIoEventLoopGroup group =
      new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
  private final EventLoop loop = group.next();
  private final NameServer server = new NameServer(loop);
  private final Map<String, InetAddress> hosts = new HashMap<>();
  private final DnsLookup lookup =
      new DnsLookup(
          loop,
          () -> new SingletonDnsServerAddressStreamProvider(server.address()),
          () -> hostsFile(hosts),
          List.of("example.test"));

  private static HostsFileEntriesResolver hostsFile(Map<String, InetAddress> entries) {
    return (name, types) -> entries.get(name);
  }

  @AfterEach
  void close() {
    server.close();
    group.shutdownGracefully(0, 1, TimeUnit.SECONDS).syncUninterruptibly();
  }

  private Answer find(String host) throws Exception {
    return lookup.find(host).get(60, TimeUnit.SECONDS);
  }

  private static InetAddress address(int last) throws UnknownHostException {
    return InetAddress.getByAddress(new byte[] {127, 0, 0, (byte) last});
  }

  @Test
  void anAnswerIsValidForItsLeastTtl() throws Exception {
    server.address("origin.test", 300, 1).address("origin.test", 17, 2);
    Answer answer = find("origin.test");
    assertThat(answer.addresses()).containsExactlyInAnyOrder(address(1), address(2));
    assertThat(answer.validFor()).isEqualTo(Duration.ofSeconds(17));
  }

  @Test
  void anAliasHasATtlToo() throws Exception {
    server.alias("www.test", 5, "origin.test").address("origin.test", 300, 1);
    Answer answer = find("www.test");
    assertThat(answer.addresses()).containsExactly(address(1));
    assertThat(answer.validFor()).isEqualTo(Duration.ofSeconds(5));
  }

  @Test
  void aServiceHasItsRecordsAndTheirLeastTtl() throws Exception {
    server
        .service("_http._tcp.app.test", 300, 1, 5, 8080, "a.test")
        .service("_http._tcp.app.test", 20, 2, 0, 81, "b.test");
    Services found = services("_http._tcp.app.test");
    assertThat(found.services())
        .containsExactlyInAnyOrder(
            new Service(1, 5, "a.test", 8080), new Service(2, 0, "b.test", 81));
    assertThat(found.validFor()).isEqualTo(Duration.ofSeconds(20));
  }

  @Test
  void aServiceThatIsSaidNotToBeThereHasNoRecord() throws Exception {
    server.service("_http._tcp.app.test", 300, 0, 0, 0, "");
    assertThat(services("_http._tcp.app.test").services()).isEmpty();
  }

  @Test
  void aServiceThatIsUnknownFails() {
    assertThatThrownBy(() -> services("_http._tcp.none.test"))
        .hasCauseInstanceOf(UnknownHostException.class);
  }

  private Services services(String name) throws Exception {
    return lookup.services(name).get(60, TimeUnit.SECONDS);
  }

  @Test
  void aTtlHasBounds() throws Exception {
    server.address("never.test", 0, 1).address("ever.test", 1_000_000, 1);
    assertThat(find("never.test").validFor()).isEqualTo(Duration.ofSeconds(1));
    assertThat(find("ever.test").validFor()).isEqualTo(Duration.ofHours(1));
  }

  @Test
  void everyLookUpAsksAgain() throws Exception {
    server.address("origin.test", 300, 1);
    find("origin.test");
    server.forget("origin.test");
    server.address("origin.test", 300, 2);
    assertThat(find("origin.test").addresses()).containsExactly(address(2));
  }

  @Test
  void aNameOfOneLabelIsSoughtInTheSearchDomains() throws Exception {
    server.address("origin.example.test", 60, 3);
    assertThat(find("origin").addresses()).containsExactly(address(3));
  }

  /** RFC 3986 §3.2.2: a dot at its end says that a name is whole. */
  @Test
  void aNameWithADotAtItsEndIsSoughtInNoSearchDomain() throws Exception {
    server.address("origin.example.test", 60, 3).address("app.test", 60, 4);
    assertThatThrownBy(() -> find("origin.")).hasCauseInstanceOf(UnknownHostException.class);
    assertThat(find("app.test.").addresses()).containsExactly(address(4));
  }

  @Test
  void aFullNameIsSoughtInNoSearchDomain() throws Exception {
    server.address("origin.example.test", 60, 3).address("app.origin.example.test", 60, 4);
    for (String name : List.of("origin", "app.origin")) {
      assertThat(find(name).addresses()).hasSize(1);
      server.asked().clear();
      assertThatThrownBy(() -> lookup.findFull(name).get(60, TimeUnit.SECONDS))
          .hasCauseInstanceOf(UnknownHostException.class);
      assertThat(server.asked()).containsOnly(name + ".");
    }
    hosts.put("origin", address(9));
    assertThat(lookup.findFull("origin").get(60, TimeUnit.SECONDS).addresses())
        .containsExactly(address(9));
  }

  @Test
  void theHostsFileComesFirstAndIsReadEachTime() throws Exception {
    server.address("origin.test", 60, 1);
    hosts.put("origin.test", address(9));
    assertThat(find("origin.test").addresses()).containsExactly(address(9));
    assertThat(find("origin.test").validFor()).isEqualTo(Duration.ofSeconds(30));
    assertThat(server.asked()).isEmpty();
    hosts.clear();
    assertThat(find("origin.test").addresses()).containsExactly(address(1));
  }

  @Test
  void localhostNeedsNoNameServer() throws Exception {
    for (String name : List.of("localhost", "a.localhost", "LOCALHOST")) {
      assertThat(find(name).addresses().getFirst().isLoopbackAddress()).isTrue();
    }
    assertThat(server.asked()).isEmpty();
  }

  @Test
  void anUnknownNameSaysWhy() {
    assertThatThrownBy(() -> find("nobody.test"))
        .isInstanceOf(ExecutionException.class)
        .cause()
        .isInstanceOf(UnknownHostException.class)
        .hasMessageContaining("nobody.test")
        .hasMessageContaining("NXDOMAIN");
  }

  @Test
  void anAnswerWithoutAnAddressIsAFailure() {
    server.answerUnknownBy(DnsResponseCode.NOERROR);
    assertThatThrownBy(() -> find("nothing.test"))
        .isInstanceOf(ExecutionException.class)
        .cause()
        .isInstanceOf(UnknownHostException.class)
        .hasMessageContaining("nothing.test");
  }

  @Test
  void anAnswerForAnotherNameIsNone() {
    server.lie("origin.test", "evil.test", 300, 66);
    assertThatThrownBy(() -> find("origin.test"))
        .isInstanceOf(ExecutionException.class)
        .hasCauseInstanceOf(UnknownHostException.class);
  }

  @Test
  void aliasesThatLeadInACircleEnd() {
    server.alias("a.test", 300, "b.test").alias("b.test", 300, "a.test");
    assertThatThrownBy(() -> find("a.test"))
        .isInstanceOf(ExecutionException.class)
        .hasCauseInstanceOf(UnknownHostException.class);
  }

  @Test
  void aServerThatFailsSaysWhy() {
    server.answerUnknownBy(DnsResponseCode.SERVFAIL);
    assertThatThrownBy(() -> find("origin.test"))
        .isInstanceOf(ExecutionException.class)
        .cause()
        .isInstanceOf(UnknownHostException.class)
        .hasMessageContaining("SERVFAIL");
  }

  @Test
  void theFilesOfThisSystemTellOfLocalhost() throws Exception {
    Answer answer = new DnsLookup(loop).find("localhost").get(60, TimeUnit.SECONDS);
    assertThat(answer.addresses()).allMatch(InetAddress::isLoopbackAddress);
  }
}
