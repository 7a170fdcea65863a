package io.kamille.core.origin.names;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.origin.OriginProtocol;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Which origins SRV records name, and what stays when the DNS says nothing good. */
class ServiceRecordsTest {

  private static final String NAME = "_http._tcp.app.test";
  private static final long SECOND = 1_000_000_000;

  private CompletableFuture<NameLookup.Services> answer = new CompletableFuture<>();
  private int asked;
  private final ServiceRecords records = records(NAME, OriginProtocol.AUTO);

  @Test
  void theLeastPriorityHasTheOriginsAndOthersAreBackups() {
    answer(
        service(20, 1, "c.test", 80), service(10, 0, "b.test", 81), service(10, 7, "a.test", 82));
    records.refresh(0);
    assertThat(names())
        .containsExactly("http://a.test:82 7", "http://b.test:81 1", "http://c.test 1 backup");
    assertThat(records.problems()).isEmpty();
  }

  @Test
  void anAnswerIsAskedForAgainWhenItsTtlIsOver() {
    answer(service(1, 1, "a.test", 80));
    records.refresh(0);
    records.refresh(29 * SECOND);
    assertThat(asked).isEqualTo(1);
    answer(service(1, 1, "b.test", 80));
    records.refresh(30 * SECOND);
    assertThat(asked).isEqualTo(2);
    assertThat(names()).containsExactly("http://b.test 1");
  }

  @Test
  void theLastGoodAnswerStaysWhileTheDnsFailsOrSaysNothing() {
    answer(service(1, 1, "a.test", 80));
    records.refresh(0);
    answer = CompletableFuture.failedFuture(new UnknownHostException("NXDOMAIN"));
    records.refresh(30 * SECOND);
    assertThat(names()).containsExactly("http://a.test 1");
    assertThat(records.problems()).containsExactly("NXDOMAIN; 1 origins of the last answer stay");
    answer();
    records.refresh(34 * SECOND);
    assertThat(asked).isEqualTo(2);
    records.refresh(35 * SECOND);
    assertThat(asked).isEqualTo(3);
    assertThat(names()).containsExactly("http://a.test 1");
    assertThat(records.problems()).singleElement().asString().contains("no SRV record");
    answer(service(1, 1, "b.test", 80));
    records.refresh(40 * SECOND);
    assertThat(names()).containsExactly("http://b.test 1");
    assertThat(records.problems()).isEmpty();
  }

  @Test
  void anAnswerThatIsLateIsTakenWhenItHasCome() {
    answer(service(1, 1, "a.test", 80));
    records.refresh(0);
    answer = new CompletableFuture<>();
    records.refresh(30 * SECOND);
    records.refresh(31 * SECOND);
    assertThat(asked).isEqualTo(2);
    answer.complete(services(service(1, 1, "b.test", 80)));
    records.refresh(32 * SECOND);
    assertThat(names()).containsExactly("http://b.test 1");
  }

  @Test
  void ofTenThousandRecordsTheFirstOnesCountAndItIsSaid() {
    answer(
        IntStream.range(0, 10_000)
            .mapToObj(i -> service(1, 1, "a" + i + ".test", 80))
            .toArray(NameLookup.Service[]::new));
    records.refresh(0);
    assertThat(records.origins()).hasSize(ServiceRecords.MOST_ORIGINS);
    assertThat(records.problems())
        .containsExactly("10000 origins by " + NAME + ", of which the first 256 count");
  }

  @Test
  void recordsThatNameNoHostOrTheSameTwiceAreLeftOut() {
    answer(
        service(1, 1, "a b/c", 80),
        service(1, 1, "", 80),
        service(1, 1, "a.test", 0),
        service(1, 1, "a.test", 80),
        service(2, 9, "A.test", 80));
    records.refresh(0);
    assertThat(names()).containsExactly("http://a.test 1");
  }

  @Test
  void theNameOrTheProtocolAsksForTls() {
    answer(service(1, 1, "a.test", 443));
    ServiceRecords https = records("_https._tcp.app.test", OriginProtocol.AUTO);
    https.refresh(0);
    assertThat(https.origins().getFirst().url()).hasToString("https://a.test");
    ServiceRecords h2 = records(NAME, OriginProtocol.H2);
    h2.refresh(0);
    assertThat(h2.origins().getFirst().url()).hasToString("https://a.test");
  }

  private ServiceRecords records(String name, OriginProtocol protocol) {
    return new ServiceRecords(
        "app",
        name,
        protocol,
        new NameLookup() {
          @Override
          public CompletableFuture<Answer> find(String host) {
            throw new AssertionError(host);
          }

          @Override
          public CompletableFuture<Services> services(String service) {
            asked++;
            return answer;
          }
        });
  }

  private void answer(NameLookup.Service... services) {
    answer = CompletableFuture.completedFuture(services(services));
  }

  private static NameLookup.Services services(NameLookup.Service... services) {
    return new NameLookup.Services(List.of(services), Duration.ofSeconds(30));
  }

  private static NameLookup.Service service(int priority, int weight, String host, int port) {
    return new NameLookup.Service(priority, weight, host, port);
  }

  private List<String> names() {
    return records.origins().stream()
        .map(origin -> origin.url() + " " + origin.weight() + (origin.backup() ? " backup" : ""))
        .toList();
  }
}
