package io.kamille.launcher.acme;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.kamille.core.setting.Sections;
import io.kamille.core.tls.Challenges;
import io.kamille.core.tls.ServerCertificate;
import io.kamille.launcher.acme.Issuer.Issued;
import io.kamille.launcher.acme.Issuer.Refusal;
import io.kamille.launcher.acme.Issuer.Window;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** When which certificate is ordered: a clock moved by hand, an authority without a network. */
class CertificateKeeperTest {

  private static final URI LETS_ENCRYPT =
      URI.create("https://acme-v02.api.letsencrypt.org/directory");
  private static final URI OWN = URI.create("https://ca.corp.test/directory");

  @TempDir private Path directory;
  private final HandClock clock = new HandClock();
  private final FakeIssuer authority = new FakeIssuer(clock, Duration.ofDays(90));
  private final List<URI> asked = new ArrayList<>();
  private int changes;

  private AcmeSettings settings(URI at, String... dnsHook) {
    return Sections.copy(
            Sections.of(AcmeSettings.SECTION, "{terms-agreed: on, directory: '%s'}", at))
        .with("dnsHook", List.of(dnsHook))
        .with("store", directory.resolve("acme"))
        .record();
  }

  private CertificateKeeper keeper(String... names) {
    return keeper(settings(OWN), names);
  }

  /** Of a process that has just been started. */
  private CertificateKeeper keeper(AcmeSettings settings, String... names) {
    CertificateStore store = new CertificateStore(settings, null);
    var keeper =
        new CertificateKeeper(
            settings,
            store,
            new Prover(store, new Challenges()),
            by -> {
              asked.add(by.directory());
              return authority;
            },
            clock,
            new Random(1));
    keeper.reload(settings, List.of(names), true);
    keeper.onChange(() -> changes++);
    return keeper;
  }

  /** Does all that is due by then. */
  private void until(CertificateKeeper keeper, Instant end) throws InterruptedException {
    while (clock.instant().isBefore(end)) {
      Duration rest = keeper.step();
      Duration left = Duration.between(clock.instant(), end);
      clock.pass(rest.compareTo(left) < 0 ? rest : left);
    }
  }

  private void pass(CertificateKeeper keeper, Duration time) throws InterruptedException {
    until(keeper, clock.instant().plus(time));
  }

  private static CertificateView view(CertificateKeeper keeper, String name) {
    return keeper.views().stream().filter(of -> of.name().equals(name)).findFirst().orElseThrow();
  }

  private static Refusal refusal(String type) {
    return new Refusal(type, "no " + type, false, null);
  }

  @Test
  void theFirstCertificateIsOrderedAtOnceAndKept() throws Exception {
    try (var keeper = keeper("a.test", "b.test")) {
      assertThat(keeper.certificates(List.of("a.test", "b.test")))
          .singleElement()
          .matches(ServerCertificate::isSelfSigned);
      pass(keeper, Duration.ofMinutes(1));
      assertThat(keeper.certificates(List.of("a.test", "b.test")))
          .hasSize(2)
          .noneMatch(ServerCertificate::isSelfSigned);
    }
    assertThat(changes).isEqualTo(2);
    try (var next = keeper("a.test", "b.test")) {
      assertThat(next.certificates(List.of("a.test")))
          .singleElement()
          .matches(of -> of.names().contains("a.test") && !of.isSelfSigned());
      pass(next, Duration.ofDays(10));
    }
    assertThat(authority.orders).hasSize(2);
  }

  @ParameterizedTest
  @CsvSource({"90, 6, 0.37", "47, 12, 0.37", "6, 135, 0.54"})
  void aYearOfRenewalsLeavesNoGapAndOrdersNoMoreThanItMust(int days, int most, double leastLeft)
      throws Exception {
    Duration lifetime = Duration.ofDays(days);
    authority.answer =
        order -> {
          if (order.replaced() != null) {
            Duration left =
                Duration.between(clock.instant(), order.replaced().getNotAfter().toInstant());
            assertThat(left).isPositive();
            assertThat(left.toSeconds() / (double) lifetime.toSeconds())
                .isBetween(days < 10 ? 0.5 : 1 / 3.0, leastLeft + 0.005);
          }
          return FakeIssuer.issue(order.name(), clock.instant(), lifetime);
        };
    Instant end = clock.instant().plus(Duration.ofDays(365));
    while (clock.instant().isBefore(end)) {
      // A deployment every five days: nothing depends on how long a process lives.
      try (var keeper = keeper("a.test")) {
        pass(keeper, Duration.ofDays(5));
        assertThat(view(keeper, "a.test").lifetimeLeft()).isPositive();
      }
    }
    assertThat(authority.moments).hasSizeBetween(365 / days, most + 1);
  }

  @Test
  void manyNamesOfOneDayAreRenewedOverDays() throws Exception {
    String[] names =
        IntStream.range(0, 120).mapToObj(i -> "n" + i + ".test").toArray(String[]::new);
    try (var keeper = keeper(names)) {
      pass(keeper, Duration.ofHours(1));
      assertThat(authority.orders).hasSize(120);
      authority.moments.clear();
      pass(keeper, Duration.ofDays(62));
    }
    Instant first = authority.moments.getFirst();
    assertThat(authority.moments).hasSize(120);
    assertThat(Duration.between(first, authority.moments.getLast()))
        .isGreaterThan(Duration.ofDays(3));
    assertThat(
            authority.moments.stream().filter(at -> at.isBefore(first.plusSeconds(3600))).count())
        .isLessThan(8);
  }

  @Test
  void tenThousandCrashesInAnHourMakeThreeOrders() throws Exception {
    authority.answer =
        _ -> {
          throw new InterruptedException("the process is killed");
        };
    for (int i = 0; i < 10_000; i++) {
      try (var keeper = keeper("a.test")) {
        keeper.step();
      } catch (InterruptedException killed) {
        // As meant.
      }
      clock.pass(Duration.ofMillis(360));
    }
    assertThat(authority.orders).hasSize(3);
  }

  @Test
  void threeCertificatesInSevenDaysAreTheMost() throws Exception {
    try (var keeper = keeper("a.test")) {
      keeper.step();
      for (int i = 0; i < 50; i++) {
        assertThat(keeper.renew("a.test")).isEqualTo(i < 2);
        keeper.doAsked();
        pass(keeper, Duration.ofHours(1));
      }
      assertThat(authority.orders).hasSize(3);
      pass(keeper, Duration.ofDays(7));
      assertThat(keeper.renew("a.test")).isTrue();
      keeper.doAsked();
      keeper.step();
    }
    assertThat(authority.orders).hasSize(4);
  }

  @Test
  void aFailureIsTriedAgainEverLaterAndTheOldCertificateStays() throws Exception {
    try (var keeper = keeper("a.test")) {
      pass(keeper, Duration.ofMinutes(1));
      authority.answer =
          _ -> {
            throw refusal("connection");
          };
      pass(keeper, Duration.ofDays(64));
      assertThat(view(keeper, "a.test").error()).startsWith("connection: no connection (port");
      assertThat(keeper.certificates(List.of("a.test"))).noneMatch(ServerCertificate::isSelfSigned);
    }
    List<Instant> at = authority.moments.subList(1, authority.moments.size());
    for (int i = 1; i < Math.min(at.size(), 6); i++) {
      double minutes = Duration.between(at.get(i - 1), at.get(i)).toSeconds() / 60.0;
      double meant = List.of(1, 10, 100, 1440, 1440).get(i - 1);
      assertThat(minutes).isBetween(0.79 * meant, 1.21 * meant);
    }
    assertThat(at).hasSizeGreaterThan(4);
  }

  @Test
  void eachTryProvesTheNameAnotherWay() throws Exception {
    authority.answer =
        _ -> {
          throw refusal("connection");
        };
    try (var keeper = keeper("a.test")) {
      pass(keeper, Duration.ofHours(3));
    }
    assertThat(authority.orders)
        .extracting(Issuer.Order::challenge)
        .startsWith(Way.TLS_ALPN_01, Way.HTTP_01, Way.TLS_ALPN_01);
  }

  @Test
  void aHookProvesAllNamesButAddresses() throws Exception {
    try (var keeper = keeper(settings(OWN, "/bin/true"), "a.test", "*.b.test", "192.0.2.7")) {
      pass(keeper, Duration.ofHours(3));
    }
    assertThat(authority.orders)
        .extracting(Issuer.Order::name, Issuer.Order::challenge)
        .containsExactlyInAnyOrder(
            tuple("a.test", Way.DNS_01),
            tuple("*.b.test", Way.DNS_01),
            tuple("192.0.2.7", Way.TLS_ALPN_01));
  }

  @Test
  void anAuthorityThatIsLimitedIsAskedWhenItSays() throws Exception {
    Instant again = clock.instant().plus(Duration.ofHours(30));
    authority.answer =
        _ -> {
          throw new Refusal("rateLimited", "too many", false, again);
        };
    try (var keeper = keeper("a.test")) {
      pass(keeper, Duration.ofHours(29));
      assertThat(authority.orders).hasSize(1);
      assertThat(view(keeper, "a.test").next()).isEqualTo(again.toString());
      pass(keeper, Duration.ofHours(2));
    }
    assertThat(authority.moments.get(1)).isBetween(again, again.plusSeconds(1));
  }

  @Test
  void noTimeOfAnAuthorityOrOfAWrongClockBlocksANameForLong() throws Exception {
    authority.answer =
        _ -> {
          throw new Refusal(
              "rateLimited", "never", false, clock.instant().plus(Duration.ofDays(3650)));
        };
    try (var keeper = keeper("a.test")) {
      pass(keeper, Duration.ofDays(6));
      assertThat(authority.orders).hasSize(1);
      pass(keeper, Duration.ofDays(2));
      assertThat(authority.orders).hasSize(2);
      clock.pass(Duration.ofDays(-4000));
      keeper.step();
      assertThat(authority.orders).hasSize(3);
    }
  }

  @Test
  void renewEndsAWaitUnlessMuchHasFailed() throws Exception {
    authority.answer =
        _ -> {
          throw refusal("connection");
        };
    try (var keeper = keeper("a.test")) {
      keeper.step();
      for (int i = 0; i < 20; i++) {
        keeper.renew("a.test");
        keeper.doAsked();
        pass(keeper, Duration.ofMinutes(3));
      }
    }
    assertThat(authority.orders).hasSizeBetween(4, 8);
  }

  @Test
  void aRehearsalWhereThereIsNoPlaceForTestsCountsAsAnOrder() throws Exception {
    try (var keeper = keeper("a.test")) {
      keeper.step();
      for (int i = 0; i < 10; i++) {
        if (keeper.rehearse("a.test")) {
          keeper.step();
        }
      }
    }
    assertThat(authority.orders).hasSize(3);
  }

  @Test
  void filesThatMakeNoSenseHarmTheirOwnNameAlone() throws Exception {
    try (var keeper = keeper("a.test", "b.test")) {
      pass(keeper, Duration.ofMinutes(1));
    }
    Path certificates = directory.resolve("acme/ca.corp.test/certificates");
    Files.writeString(certificates.resolve("a.test/renewal"), "{\"failures\":1}");
    Path challenges = Files.createDirectories(directory.resolve("acme/challenges"));
    Files.writeString(challenges.resolve("a"), "{}");
    Files.writeString(challenges.resolve("b"), "no JSON");
    try (var keeper = keeper("a.test", "b.test")) {
      keeper.step();
      assertThat(view(keeper, "a.test").error()).contains("counts cannot be read");
      assertThat(view(keeper, "b.test").error()).isEmpty();
      assertThat(keeper.certificates(List.of("a.test"))).noneMatch(ServerCertificate::isSelfSigned);
    }
    assertThat(challenges).isEmptyDirectory();
  }

  @Test
  void whatAnOperatorHasToDoWaitsForAReload() throws Exception {
    authority.answer =
        _ -> {
          throw new Refusal("userActionRequired", "new terms", true, null);
        };
    try (var keeper = keeper("a.test")) {
      pass(keeper, Duration.ofDays(20));
      assertThat(authority.orders).hasSize(1);
      assertThat(view(keeper, "a.test").next()).isEmpty();
      assertThat(view(keeper, "a.test").error()).contains("agree to the new terms");
      keeper.reload(settings(OWN), List.of("a.test"), true);
      keeper.doAsked();
      pass(keeper, Duration.ofHours(1));
    }
    assertThat(authority.orders).hasSize(2);
  }

  @ParameterizedTest
  @ValueSource(strings = {"other name", "other key", "of tomorrow", "of yesterday"})
  void aCertificateThatIsWrongDoesNotComeIntoForce(String wrong) throws Exception {
    Duration day = Duration.ofDays(1);
    try (var keeper = keeper("a.test")) {
      pass(keeper, Duration.ofMinutes(1));
      List<ServerCertificate> before = keeper.certificates(List.of("a.test"));
      authority.answer =
          order -> {
            Instant now = clock.instant();
            Issued good = FakeIssuer.issue(order.name(), now, day);
            return switch (wrong) {
              case "other name" -> FakeIssuer.issue("b.test", now, day);
              case "other key" ->
                  new Issued(good.chain(), FakeIssuer.issue("a.test", now, day).keys());
              case "of tomorrow" -> FakeIssuer.issue(order.name(), now.plus(day), day);
              default -> FakeIssuer.issue(order.name(), now.minus(day.multipliedBy(2)), day);
            };
          };
      keeper.renew("a.test");
      keeper.doAsked();
      pass(keeper, Duration.ofSeconds(10));
      assertThat(keeper.certificates(List.of("a.test"))).isEqualTo(before);
      assertThat(view(keeper, "a.test").error()).contains("its certificate is ");
    }
  }

  @Test
  void theMomentThatTheAuthoritySuggestsIsDrawnOnceAndSurvivesRestarts() throws Exception {
    Instant start = clock.instant().plus(Duration.ofDays(20));
    authority.window = new Window(start, start.plus(Duration.ofDays(2)), null);
    String chosen;
    try (var keeper = keeper("a.test")) {
      pass(keeper, Duration.ofDays(1));
      chosen = view(keeper, "a.test").next();
      assertThat(Instant.parse(chosen)).isBetween(start, start.plus(Duration.ofDays(2)));
    }
    for (int i = 0; i < 10; i++) {
      try (var keeper = keeper("a.test")) {
        pass(keeper, Duration.ofDays(1));
        assertThat(view(keeper, "a.test").next()).isEqualTo(chosen);
      }
    }
    assertThat(authority.questions).isBetween(20, 26);
  }

  @Test
  void aWindowInThePastMeansNow() throws Exception {
    try (var keeper = keeper("a.test")) {
      pass(keeper, Duration.ofDays(1));
      Instant past = clock.instant().minus(Duration.ofHours(2));
      authority.window = new Window(past, past.plus(Duration.ofHours(1)), null);
      pass(keeper, Duration.ofHours(13));
    }
    assertThat(authority.orders).hasSizeGreaterThan(1);
    assertThat(authority.orders.get(1).replaced()).isNotNull();
  }

  @Test
  void aClockThatWasAheadEndsNoQuestions() throws Exception {
    try (var keeper = keeper("a.test")) {
      pass(keeper, Duration.ofDays(1));
      clock.pass(Duration.ofDays(30));
      keeper.step();
      clock.pass(Duration.ofDays(-30));
      Instant past = clock.instant().minus(Duration.ofHours(2));
      authority.window = new Window(past, past.plus(Duration.ofHours(1)), null);
      pass(keeper, Duration.ofHours(13));
    }
    assertThat(authority.orders).hasSizeGreaterThan(1);
  }

  @Test
  void aWindowThatComesTooLateIsCut() throws Exception {
    Instant issued = clock.instant();
    Instant late = issued.plus(Duration.ofDays(89));
    authority.window = new Window(late, late.plus(Duration.ofDays(1)), null);
    try (var keeper = keeper("a.test")) {
      pass(keeper, Duration.ofDays(76));
    }
    assertThat(authority.moments.get(1))
        .isBetween(issued.plus(Duration.ofDays(74)), issued.plus(Duration.ofDays(76)));
  }

  @Test
  void nothingIsOrderedWhoseCountCannotBeWritten() throws Exception {
    Files.createDirectories(directory.resolve("acme"));
    Files.writeString(directory.resolve("acme/ca.corp.test"), "a file in the way");
    try (var keeper = keeper("a.test")) {
      pass(keeper, Duration.ofHours(1));
    }
    assertThat(authority.orders).isEmpty();
  }

  @Test
  void aFullDiskLosesTheNewCertificateAndNotTheOldOne() throws Exception {
    Path live = directory.resolve("acme/ca.corp.test/certificates/a.test");
    try (var keeper = keeper("a.test")) {
      pass(keeper, Duration.ofMinutes(1));
      Files.writeString(live.resolve("2"), "in the way of the next one");
      keeper.renew("a.test");
      keeper.doAsked();
      pass(keeper, Duration.ofSeconds(10));
      assertThat(view(keeper, "a.test").error()).startsWith("it cannot be kept");
      assertThat(keeper.certificates(List.of("a.test"))).noneMatch(ServerCertificate::isSelfSigned);
    }
  }

  @Test
  void whatIsIssuedAndLostCountsToo() throws Exception {
    try (var keeper = keeper("a.test")) {
      Path of = directory.resolve("acme/ca.corp.test/certificates/a.test");
      Files.writeString(Files.createDirectories(of).resolve("1"), "in the way");
      pass(keeper, Duration.ofDays(6));
      assertThat(authority.orders).hasSize(3);
    }
  }

  @Test
  void aReleasedProcessOrdersNothingAndTakesWhatItsSuccessorOrders() throws Exception {
    try (var before = keeper("a.test");
        var after = keeper("a.test")) {
      before.handOver(true);
      pass(before, Duration.ofSeconds(5));
      assertThat(authority.orders).isEmpty();
      after.step();
      assertThat(authority.orders).hasSize(1);
      pass(before, Duration.ofSeconds(11));
      assertThat(before.certificates(List.of("a.test"))).noneMatch(ServerCertificate::isSelfSigned);
    }
  }

  @Test
  void aStoreThatIsGoneOrBrokenLeavesInForceWhatIs() throws Exception {
    try (var follows = keeper("a.test");
        var orders = keeper("a.test")) {
      follows.handOver(true);
      orders.step();
      pass(follows, Duration.ofSeconds(11));
      Path home = directory.resolve("acme/ca.corp.test");
      Path away = Files.move(home, directory.resolve("away"));
      pass(follows, Duration.ofSeconds(11));
      assertThat(follows.certificates(List.of("a.test")))
          .noneMatch(ServerCertificate::isSelfSigned);
      Files.move(away, home);
      Path live = home.resolve("certificates/a.test/live");
      Files.delete(live);
      Files.createDirectory(live);
      pass(follows, Duration.ofSeconds(11));
      assertThat(follows.certificates(List.of("a.test")))
          .noneMatch(ServerCertificate::isSelfSigned);
      assertThat(view(follows, "a.test").lifetimeLeft()).isPositive();
    }
  }

  @Test
  void aRehearsalIsThrownAway() throws Exception {
    authority.answer = order -> FakeIssuer.issue(order.name(), clock.instant(), Duration.ofDays(1));
    try (var keeper = keeper(settings(LETS_ENCRYPT), "b.shop", "a.shop")) {
      assertThat(keeper.rehearse("a.shop")).as("by who does not order").isFalse();
      keeper.step();
      asked.clear();
      assertThat(keeper.rehearse("a.shop")).isTrue();
      assertThat(keeper.rehearse("a.shop")).as("while one is under way").isFalse();
      keeper.step();
      assertThat(asked).singleElement().extracting(URI::getHost).asString().contains("staging");
      assertThat(view(keeper, "a.shop").steps()).last().asString().startsWith("done");
      assertThat(keeper.missing()).isEqualTo(1);
    }
  }

  @Test
  void aWildcardServesANameUntilItsOwnCertificateIsThere() throws Exception {
    try (var keeper = keeper("*.shop.test")) {
      keeper.step();
    }
    try (var keeper = keeper("*.shop.test", "a.shop.test")) {
      assertThat(keeper.certificates(List.of("*.shop.test", "a.shop.test")))
          .singleElement()
          .matches(of -> !of.isSelfSigned());
    }
  }

  @Test
  void anExpiredCertificateIsServedUntilTheNextOne() throws Exception {
    try (var keeper = keeper("a.test")) {
      pass(keeper, Duration.ofMinutes(1));
    }
    clock.pass(Duration.ofDays(100));
    try (var keeper = keeper("a.test")) {
      assertThat(keeper.certificates(List.of("a.test"))).noneMatch(ServerCertificate::isSelfSigned);
      assertThat(view(keeper, "a.test").why()).isEqualTo("it has expired");
      keeper.step();
      assertThat(authority.orders.getLast().replaced()).isNull();
      assertThat(view(keeper, "a.test").lifetimeLeft()).isEqualTo(1);
    }
  }

  @Test
  void keysAreForTheirOwnerAlone() throws Exception {
    try (var keeper = keeper("a.test")) {
      pass(keeper, Duration.ofMinutes(1));
    }
    try (var files = Files.walk(directory.resolve("acme"))) {
      assertThat(files).allMatch(file -> isPrivate(file), "only its owner may read it");
    }
  }

  private static boolean isPrivate(Path file) {
    try {
      return Files.isSymbolicLink(file)
          || Files.getPosixFilePermissions(file).stream()
              .allMatch(each -> each.name().startsWith("OWNER"));
    } catch (IOException gone) {
      return false;
    }
  }
}
