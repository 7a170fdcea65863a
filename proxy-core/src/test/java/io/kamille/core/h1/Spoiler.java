package io.kamille.core.h1;

import java.util.List;
import java.util.SplittableRandom;

/**
 * Makes texts that are nearly what is expected: sound ones with a few mistakes, and words of the
 * grammar in any order. The same seed makes the same texts. Confined to one thread.
 */
public final class Spoiler {

  private static final int CHANGES_LIMIT = 4;
  private static final int WORDS_LIMIT = 12;

  private final SplittableRandom random;
  private final List<String> sound;
  private final List<String> words;

  /**
   * @param sound what is expected, each at least one character long
   * @param words what it is made of
   */
  public Spoiler(SplittableRandom random, List<String> sound, List<String> words) {
    this.random = random;
    this.sound = sound;
    this.words = words;
  }

  /** The next text; may be empty. */
  public String next() {
    return random.nextInt(3) == 0 ? anyWords() : spoiled();
  }

  private String anyWords() {
    StringBuilder text = new StringBuilder();
    for (int i = random.nextInt(WORDS_LIMIT); i > 0; i--) {
      text.append(word());
    }
    return text.toString();
  }

  private String spoiled() {
    StringBuilder text = new StringBuilder(sound.get(random.nextInt(sound.size())));
    for (int i = random.nextInt(CHANGES_LIMIT + 1); i > 0; i--) {
      change(text);
    }
    return text.toString();
  }

  private void change(StringBuilder text) {
    int from = random.nextInt(text.length() + 1);
    int to = Math.min(text.length(), from + random.nextInt(8));
    switch (random.nextInt(5)) {
      case 0 -> text.delete(from, to);
      case 1 -> text.insert(from, word());
      case 2 -> text.replace(from, to, word());
      case 3 -> text.insert(random.nextInt(text.length() + 1), text.substring(from, to));
      default -> text.insert(from, sound.get(random.nextInt(sound.size())));
    }
  }

  private String word() {
    return words.get(random.nextInt(words.size()));
  }
}
