//! The certificates copy after the first day: an InitConfig with a certificate key has it uploaded again once the cluster
//! has deleted it, so that a further control plane node can join.
use super::init;
use crate::{
    Look, PlanError, Planned, Remark, Step,
    acts::{SeenCopy, UPLOAD_ID},
    turns::{Addition, Place, Subject},
};
use documents::{AnyDocument, v1alpha1};
use host::Progress;
use outcome::AddedTurn;
use std::rc::Rc;

pub(crate) const ADDITION: Addition = Addition {
    turn: AddedTurn::Certificates,
    summary: "uploads the certificates of an InitConfig with `certificateKey` again, if the cluster has deleted them or has them under another key",
    place: Place::EndOfPost,
    applies: |node| node.is_some_and(|node| matches!(&node.body, AnyDocument::Init(init) if has_key(init))),
    plan,
};

const fn has_key(init: &v1alpha1::Init) -> bool {
    init.certificate_key.is_some()
}

fn plan(subject: &Subject<'_>, look: &Look<'_>) -> Result<Planned, PlanError> {
    let Some(AnyDocument::Init(wanted)) = subject.node.map(|node| &node.body) else { return Ok(Planned::default()) };
    let Some(upload) = init::upload(wanted)? else { return Ok(Planned::default()) };
    let mut planned = Planned::default();
    match upload.seen(look)? {
        // Mode provision creates the cluster, and uploads them then.
        SeenCopy::NoCluster => {}
        SeenCopy::Own => {
            let is_open = matches!(look.host.progress(UPLOAD_ID)?, Progress::Started | Progress::Failed);
            planned.steps.extend(is_open.then(|| Step::Close(Rc::new(upload))));
        }
        SeenCopy::Missing => planned.steps.push(Step::Run(Rc::new(upload))),
        SeenCopy::Unanswered(why) => {
            planned.remarks.push(Remark::Unasked { what: "Secret kube-system/kubeadm-certs".to_owned(), why });
        }
    }
    Ok(planned)
}
