//! The ARN of a key: `arn:aws:kms:REGION:ACCOUNT:key/ID`.
use std::fmt;

/// The ARN of one key. The ARN of an alias is not one: what an alias names can change, and its old data with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyArn {
    text: String,
    partition: String,
    region: String,
}

impl KeyArn {
    /// Reads an ARN; `None` if it is not that of a key.
    pub fn parse(text: &str) -> Option<Self> {
        let parts: Vec<&str> = text.splitn(6, ':').collect();
        let &["arn", partition, "kms", region, account, resource] = parts.as_slice() else { return None };
        let is_word =
            |word: &str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        let is_account = account.len() == 12 && account.bytes().all(|byte| byte.is_ascii_digit());
        let is_key = resource.strip_prefix("key/").is_some_and(is_word);
        let is_good = is_word(partition) && is_word(region) && is_account && is_key && text.len() <= 256;
        is_good.then(|| Self { text: text.to_owned(), partition: partition.to_owned(), region: region.to_owned() })
    }

    /// The whole ARN.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The key, whichever replica of it is asked: those of a multi-Region key have one id and the same key material, and
    /// differ in their region.
    pub(super) fn identity(&self) -> String {
        match self.text.splitn(5, ':').nth(4) {
            Some(rest) if rest.contains(":key/mrk-") => format!("arn:{}:kms::{rest}", self.partition),
            _ => self.text.clone(),
        }
    }

    /// The region in it.
    pub fn region(&self) -> &str {
        &self.region
    }

    /// The https URL of a service in a region, where the partition's domain is known: `aws`, `aws-us-gov` and `aws-cn`.
    pub fn endpoint(&self, service: &str, region: &str) -> Option<String> {
        let domain = match self.partition.as_str() {
            "aws" | "aws-us-gov" => "amazonaws.com",
            "aws-cn" => "amazonaws.com.cn",
            _ => return None,
        };
        Some(format!("https://{service}.{region}.{domain}"))
    }
}

impl fmt::Display for KeyArn {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_arn_of_a_key_is_one() {
        let arn = KeyArn::parse("arn:aws-cn:kms:cn-north-1:111122223333:key/mrk-1234abcd").unwrap();
        assert_eq!(arn.region(), "cn-north-1");
        assert_eq!(arn.endpoint("kms", arn.region()).unwrap(), "https://kms.cn-north-1.amazonaws.com.cn");
        for wrong in [
            "",
            "1234abcd",
            "alias/k",
            "arn:aws:kms:us-west-2:111122223333:alias/k",
            "arn:aws:kms:us-west-2:111122223333:key/",
            "arn:aws:kms:us-west-2:1111:key/a",
            "arn:aws:s3:us-west-2:111122223333:key/a",
            "arn:aws:kms:us/west:111122223333:key/a",
            "arn:aws:kms:us-west-2:111122223333:key/a?b",
        ] {
            assert_eq!(KeyArn::parse(wrong), None, "{wrong}");
        }
        assert_eq!(arn.identity(), "arn:aws-cn:kms::111122223333:key/mrk-1234abcd");
        let single = "arn:aws:kms:us-west-2:111122223333:key/1234abcd";
        assert_eq!(KeyArn::parse(single).unwrap().identity(), single);
        let elsewhere = KeyArn::parse("arn:aws-iso:kms:us-iso-east-1:111122223333:key/a").unwrap();
        assert_eq!(elsewhere.endpoint("kms", "us-iso-east-1"), None);
    }
}
