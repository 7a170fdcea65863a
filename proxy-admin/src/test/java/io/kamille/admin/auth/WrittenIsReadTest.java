package io.kamille.admin.auth;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kamille.admin.auth.NamedTokens.Token;
import io.kamille.cluster.secret.SharedValues;
import io.kamille.core.loop.ManualClock;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What the files of the control plane take, they give back; what they refuse harms nothing. */
class WrittenIsReadTest {

  private static final long SEED = 20_261_128;
  private static final int NAME_LIMIT = 64;

  @TempDir private Path directory;

  private final ManualClock clock = ManualClock.atSeconds(1_795_251_660L);
  private final Random random = new Random(SEED);

  /** Characters of all kinds: controls, quotes, other scripts, halves of pairs. */
  private String text(int length) {
    StringBuilder text = new StringBuilder();
    while (text.length() < length) {
      switch (random.nextInt(6)) {
        case 0 -> text.append((char) random.nextInt(0x20));
        case 1 -> text.append((char) (0xd800 + random.nextInt(0x800)));
        case 2 -> text.append("\"\\'".charAt(random.nextInt(3)));
        case 3 -> text.append((char) random.nextInt(Character.MAX_VALUE));
        default -> text.append((char) (' ' + random.nextInt(95)));
      }
    }
    return text.toString();
  }

  @Test
  void aTokenThatIsMadeIsThereInTheNextProcess() throws IOException {
    Path file = directory.resolve("tokens.json");
    NamedTokens tokens = new NamedTokens(file, clock, () -> null);
    Map<String, String> secrets = new HashMap<>();
    for (int i = 0; i < 300 && secrets.size() < 100; i++) {
      String name = i % 3 == 0 ? text(1 + random.nextInt(NAME_LIMIT + 2)) : printable();
      try {
        NamedTokens.Created created = tokens.make(name, Scope.READ, Duration.ofDays(1));
        tokens.add(created.token());
        secrets.put(created.secret(), name);
      } catch (IllegalArgumentException refused) {
        assertThat(refused).hasMessageContaining("name must have 1 to 64 characters");
      }
      assertThat(tokens.list()).hasSameSizeAs(secrets.keySet());
    }
    NamedTokens next = new NamedTokens(file, clock, () -> null);
    assertThat(next.list()).isEqualTo(tokens.list()).hasSize(100);
    secrets.forEach(
        (secret, name) -> assertThat(next.find(secret)).extracting("name").isEqualTo(name));
  }

  @Test
  void oneTokenTooManyIsRefusedUntilAnotherEnds() throws IOException {
    Path file = directory.resolve("tokens.json");
    NamedTokens tokens = new NamedTokens(file, clock, () -> null);
    for (int i = 0; i < 200; i++) {
      String name = "é".repeat(NAME_LIMIT);
      tokens.add(tokens.make(name, Scope.PURGE, Duration.ofDays(i == 0 ? 1 : 366)).token());
    }
    String before = Files.readString(file);
    assertThatThrownBy(() -> tokens.make("one more", Scope.READ, Duration.ofDays(1)))
        .hasMessage("There are 200 tokens; revoke one first.");
    assertThatThrownBy(() -> tokens.make("x".repeat(65), Scope.READ, Duration.ofDays(1)))
        .hasMessageContaining("1 to 64 characters");
    assertThatThrownBy(() -> tokens.make("year", Scope.READ, Duration.ofDays(367)))
        .hasMessageContaining("at most a year");
    assertThat(file).hasContent(before);
    assertThat(new NamedTokens(file, clock, () -> null).list()).isEqualTo(tokens.list());
    clock.advance(Duration.ofDays(1));
    tokens.add(tokens.make("one more", Scope.READ, Duration.ofDays(1)).token());
    assertThat(new NamedTokens(file, clock, () -> null).list()).hasSize(200);
  }

  /** Each token that is made ends two that have expired, and none that holds. */
  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2, 3, 200})
  void ofTheTokensOfAllNodesThatHaveExpiredSomeEndAtATime(int expired) throws IOException {
    Values nodes = new Values();
    NamedTokens tokens = new NamedTokens(directory.resolve("tokens.json"), clock, () -> nodes);
    for (int i = 0; i < expired; i++) {
      share(nodes, tokens.make("short", Scope.READ, Duration.ofDays(1)).token());
    }
    clock.advance(Duration.ofDays(1));
    Token holds = tokens.make("long", Scope.READ, Duration.ofDays(2)).token();
    share(nodes, holds);
    for (int left = expired; left > 0; left = Math.max(0, left - 2)) {
      assertThat(tokens.expired(nodes)).hasSize(Math.min(left, 2));
      for (String id : tokens.expired(nodes)) {
        NamedTokens.share(nodes, id, null);
      }
    }
    assertThat(tokens.expired(nodes)).isEmpty();
    assertThat(tokens.list()).containsExactly(holds);
  }

  private static void share(Values nodes, Token token) throws IOException {
    NamedTokens.share(nodes, token.id(), token);
  }

  /** What nodes share without a network. */
  private static final class Values implements SharedValues {
    private final Map<String, byte[]> all = new TreeMap<>();

    @Override
    public boolean leads() {
      return true;
    }

    @Override
    public byte @Nullable [] get(String name) {
      return all.get(name);
    }

    @Override
    public Map<String, byte[]> under(String prefix) {
      Map<String, byte[]> found = new TreeMap<>(all);
      found.keySet().removeIf(name -> !name.startsWith(prefix));
      return found;
    }

    @Override
    public Map<String, Boolean> put(String name, byte @Nullable [] content) {
      all.compute(name, (_, _) -> content);
      return Map.of();
    }
  }

  private String printable() {
    int length = random.nextBoolean() ? NAME_LIMIT : 1 + random.nextInt(NAME_LIMIT);
    StringBuilder name = new StringBuilder("x");
    while (name.length() < length) {
      name.append(
          (char) (random.nextBoolean() ? '!' + random.nextInt(94) : 0x4e00 + random.nextInt(99)));
    }
    return name.toString();
  }

  @Test
  void aLineOfTheAuditLogIsRightForWhoChecksIt() throws IOException {
    Path file = directory.resolve("audit.jsonl");
    List<String> outcomes = new ArrayList<>();
    int refused = 0;
    for (int round = 0; round < 10; round++) {
      try (AuditLog log = AuditLog.open(file, clock)) {
        for (int i = 0; i < 20; i++) {
          boolean isLong = i % 7 == 6;
          String target =
              text(isLong ? (60 << 10) + random.nextInt(12 << 10) : random.nextInt(500));
          String outcome = round + "/" + i;
          var line = log.append(null, text(9), target, text(9), outcome, random.nextBoolean());
          try {
            assertThat(AuditLog.awaited(line)).isEqualTo(outcomes.size() + 1L);
            outcomes.add(outcome);
          } catch (IOException tooLong) {
            assertThat(tooLong).hasMessageContaining("a line is longer than 65536 octets");
            refused++;
          }
        }
        assertThat(log.last(1000))
            .extracting(entry -> String.valueOf(entry.get("outcome")).replace("\"", ""))
            .containsExactlyElementsOf(outcomes.reversed());
      }
    }
    assertThat(AuditLog.verify(file).trouble()).isNull();
    assertThat(AuditLog.verify(file).lines()).isEqualTo(outcomes.size());
    assertThat(refused).as("lines beyond the limit").isPositive();
  }

  /** What a later release or somebody else has written there. */
  @Test
  void aFileThatHoldsNoTokensIsToldAndStays() throws IOException {
    Path file = Files.writeString(directory.resolve("tokens.json"), "[{\"id\":1}]");
    assertThatThrownBy(() -> new NamedTokens(file, clock, () -> null))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("not a list of tokens");
    assertThat(file).hasContent("[{\"id\":1}]");
  }
}
