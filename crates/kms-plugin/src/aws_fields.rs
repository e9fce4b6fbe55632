//! The fields of a key of AWS KMS.
use crate::fields::{Fields, Presence, Problems, is_service_url};
use kms::{AwsCredentials, AwsSettings, KeyArn};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

/// Where instances find their metadata service.
const METADATA: &str = "http://169.254.169.254";
/// The name of the session that CloudTrail shows.
const SESSION: &str = "machineadm-kms-plugin";

/// Reads `keys[].aws`.
pub(crate) fn aws(value: &Value, path: &str, timeout: Duration, problems: &Problems) -> Option<AwsSettings> {
    let fields = Fields::of(value, path, problems)?;
    let key = fields.required("keyArn").and_then(|text| {
        let key = KeyArn::parse(text);
        if key.is_none() {
            fields.refuse("keyArn", "must be the ARN of a key, arn:aws:kms:REGION:ACCOUNT:key/ID, and not of an alias");
        }
        key
    });
    let region = fields.text("region").filter(|text| {
        let is_good = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        if !is_good {
            fields.refuse("region", "must have letters, digits and `-`");
        }
        is_good
    });
    let service = Service { region: region.map(str::to_owned), key: key.as_ref() };
    let endpoint = service.endpoint(&fields, "kms");
    let ca_file = fields.absolute("caFile", Presence::Optional);
    let encryption_context = context(&fields);
    let credentials = match fields.value("credentials") {
        Some(value) => credentials(value, &fields.at("credentials"), &service, problems),
        None => {
            fields.refuse("credentials", "required");
            None
        }
    };
    fields.finish();
    let region = service.region();
    let (key, endpoint, credentials) = (key.clone()?, endpoint?, credentials?);
    Some(AwsSettings { key, region: region?, endpoint, ca_file, encryption_context, credentials, timeout })
}

/// What decides where a service of AWS is.
struct Service<'a> {
    region: Option<String>,
    key: Option<&'a KeyArn>,
}

impl Service<'_> {
    fn region(&self) -> Option<String> {
        self.region.clone().or_else(|| self.key.map(|key| key.region().to_owned()))
    }

    /// The URL in the field `endpoint`, or the public one of the region.
    fn endpoint(&self, fields: &Fields<'_>, service: &str) -> Option<String> {
        let given = fields.text("endpoint");
        if let Some(text) = given {
            let is_good = is_service_url(text);
            if !is_good {
                fields.refuse("endpoint", "must be an https URL without user, query and fragment");
            }
            return is_good.then(|| text.to_owned());
        }
        let public = self.key?.endpoint(service, &self.region()?);
        if public.is_none() {
            fields.refuse("endpoint", "required for this partition");
        }
        public
    }
}

fn context(fields: &Fields<'_>) -> BTreeMap<String, String> {
    let Some(value) = fields.value("encryptionContext") else { return BTreeMap::new() };
    let pair = |(name, value): (&String, &Value)| Some((name.clone(), value.as_str()?.to_owned()));
    let found = value.as_object().and_then(|map| map.iter().map(pair).collect::<Option<_>>());
    found.unwrap_or_else(|| {
        fields.refuse("encryptionContext", "must be a mapping of names to texts");
        BTreeMap::new()
    })
}

/// The names of the sources.
const SOURCES: [&str; 5] = ["environment", "sharedFile", "directory", "instanceMetadata", "webIdentity"];

fn credentials(value: &Value, path: &str, service: &Service<'_>, problems: &Problems) -> Option<AwsCredentials> {
    let fields = Fields::of(value, path, problems)?;
    let given: Vec<_> = SOURCES.into_iter().filter_map(|name| Some((name, fields.value(name)?))).collect();
    let found = match given.as_slice() {
        [(name, value)] => source(name, value, &fields.at(name), service, problems),
        _ => {
            fields.refuse_all(&format!("exactly one is required: {}", SOURCES.join(", ")));
            None
        }
    };
    fields.finish();
    found
}

fn source(name: &str, value: &Value, path: &str, service: &Service<'_>, problems: &Problems) -> Option<AwsCredentials> {
    let fields = Fields::of(value, path, problems)?;
    let found = match name {
        "environment" => Some(AwsCredentials::Environment),
        "sharedFile" => {
            let profile = fields.text("profile").unwrap_or("default").to_owned();
            absolute(&fields, "path").map(|path| AwsCredentials::SharedFile { path, profile })
        }
        "directory" => absolute(&fields, "path").map(|path| AwsCredentials::Directory { path }),
        "instanceMetadata" => {
            let endpoint = fields.text("endpoint").unwrap_or(METADATA).to_owned();
            if fetch::Request::to_metadata(fetch::Method::Get, &endpoint).is_err() {
                let message = "must be an https URL, or an http URL with a link-local or loopback address";
                fields.refuse("endpoint", message);
            }
            Some(AwsCredentials::InstanceMetadata { endpoint })
        }
        _ => web_identity(&fields, service),
    };
    fields.finish();
    found
}

fn web_identity(fields: &Fields<'_>, service: &Service<'_>) -> Option<AwsCredentials> {
    let role_arn = fields.required("roleArn").map(str::to_owned);
    let token_file = absolute(fields, "tokenFile");
    let session_name = fields.text("sessionName").unwrap_or(SESSION).to_owned();
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b"=,.@-_".contains(&byte);
    if !(2..=64).contains(&session_name.len()) || !session_name.bytes().all(is_name) {
        fields.refuse("sessionName", "must have 2 to 64 letters, digits and `=,.@-_`");
    }
    let (endpoint, ca_file) = (service.endpoint(fields, "sts"), fields.absolute("caFile", Presence::Optional));
    let (role_arn, token_file, endpoint) = (role_arn?, token_file?, endpoint?);
    Some(AwsCredentials::WebIdentity { role_arn, token_file, session_name, endpoint, ca_file })
}

fn absolute(fields: &Fields<'_>, name: &'static str) -> Option<PathBuf> {
    fields.absolute(name, Presence::Required)
}

#[cfg(test)]
mod tests {
    use crate::configuration::{Backend, Configuration};
    use kms::AwsCredentials;

    const ARN: &str = "arn:aws:kms:us-west-2:111122223333:key/k";

    fn parse(aws: &str) -> Result<Configuration, Vec<String>> {
        let head = "apiVersion: kms.machineadm.cluster.x-k8s.io/v1alpha1\nkind: PluginConfiguration\n";
        Configuration::parse(&format!("{head}keys: [{{name: a, socket: /run/a, aws: {aws}}}]\n"))
    }

    #[test]
    fn a_key_of_aws_is_read_with_its_defaults() {
        let found = parse(&format!("{{keyArn: '{ARN}', credentials: {{instanceMetadata: {{}}}}}}")).unwrap();
        let Backend::Aws(settings) = &found.keys[0].backend else { panic!("not aws") };
        let told = (settings.region.as_str(), settings.endpoint.as_str());
        assert_eq!(told, ("us-west-2", "https://kms.us-west-2.amazonaws.com"));
        let metadata = AwsCredentials::InstanceMetadata { endpoint: "http://169.254.169.254".to_owned() };
        assert_eq!(settings.credentials, metadata);
        let found = parse(&format!(
            "{{keyArn: '{ARN}', region: eu-west-1, credentials: {{webIdentity: {{roleArn: r, tokenFile: /t}}}}}}"
        ));
        let Backend::Aws(settings) = &found.unwrap().keys[0].backend else { panic!("not aws") };
        let AwsCredentials::WebIdentity { endpoint, session_name, .. } = &settings.credentials else {
            panic!("not it")
        };
        assert_eq!(
            (endpoint.as_str(), session_name.as_str()),
            ("https://sts.eu-west-1.amazonaws.com", "machineadm-kms-plugin")
        );
    }

    #[test]
    fn every_problem_is_reported_with_its_path() {
        let found =
            parse("{keyArn: alias/k, region: a/b, endpoint: 'http://h', caFile: ca, encryptionContext: [], x: 1}");
        let want = [
            "keyArn: must be the ARN of a key, arn:aws:kms:REGION:ACCOUNT:key/ID, and not of an alias",
            "region: must have letters, digits and `-`",
            "endpoint: must be an https URL without user, query and fragment",
            "caFile: must be an absolute path without `..`",
            "encryptionContext: must be a mapping of names to texts",
            "credentials: required",
            "x: unknown field",
        ];
        assert_eq!(found.unwrap_err(), want.map(|problem| format!("keys[0].aws.{problem}")));
        let sources = [
            ("{}", ": exactly one is required: environment, sharedFile, directory, instanceMetadata, webIdentity"),
            ("{directory: {}}", ".directory.path: required"),
            ("{environment: {a: 1}}", ".environment.a: unknown field"),
            (
                "{instanceMetadata: {endpoint: 'http://10.0.0.1'}}",
                ".instanceMetadata.endpoint: must be an https URL, or an http URL with a link-local or loopback address",
            ),
            (
                "{webIdentity: {roleArn: r, tokenFile: /t, sessionName: a b}}",
                ".webIdentity.sessionName: must have 2 to 64 letters, digits and `=,.@-_`",
            ),
        ];
        for (source, problem) in sources {
            let found = parse(&format!("{{keyArn: '{ARN}', credentials: {source}}}")).unwrap_err();
            assert_eq!(found, [format!("keys[0].aws.credentials{problem}")]);
        }
        for url in ["https://", "https://kms:0", "https://kms:99999", "https://a b", "https://[::1", "https://u@kms"] {
            let found = parse(&format!("{{keyArn: '{ARN}', endpoint: '{url}', credentials: {{environment: {{}}}}}}"));
            let problem = "keys[0].aws.endpoint: must be an https URL without user, query and fragment";
            assert_eq!(found.unwrap_err(), [problem], "{url}");
        }
        let elsewhere =
            parse("{keyArn: 'arn:aws-iso:kms:us-iso-east-1:111122223333:key/k', credentials: {environment: {}}}");
        assert_eq!(elsewhere.unwrap_err(), ["keys[0].aws.endpoint: required for this partition"]);
    }
}
