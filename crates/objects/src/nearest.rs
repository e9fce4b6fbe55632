//! The known name that a misspelt one probably means.

/// The known name nearest to what was written, when it is near enough to be a misspelling.
pub fn nearest<'a>(written: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let written: Vec<char> = written.chars().take(128).flat_map(char::to_lowercase).collect();
    known
        .into_iter()
        .map(|name| (distance(&written, &name.to_lowercase().chars().collect::<Vec<_>>()), name))
        .filter(|(distance, name)| *distance <= (name.chars().count() / 3).max(1))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

/// The hint that goes with an unknown name.
pub fn did_you_mean<'a>(written: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    nearest(written, known).map(|name| format!("did you mean `{name}`?"))
}

/// How many letters must be added, dropped, replaced or swapped with their neighbour.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let replace = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut least = replace.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                least = least.min(before[j - 2] + 1);
            }
            row.push(least);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn a_slip_finds_its_name() {
        for (written, meant) in [("parametres", "parameters"), ("PARAMETERS", "parameters"), ("paht", "path")] {
            assert_eq!(nearest(written, ["files", "path", "parameters"]), Some(meant), "{written}");
        }
    }

    #[test]
    fn another_word_finds_nothing() {
        assert_eq!(nearest("volume", ["files", "path", "parameters"]), None);
    }
}
